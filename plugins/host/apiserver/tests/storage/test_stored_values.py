import orjson
import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_host.apiserver.storage.stored_definitions import from_v1beta1
from hyperkube_host.apiserver.storage.stored_values import StoredValues
from hyperkube_lib.protobuf import Protobuf

from hyperkube.hookspecs.storage import Unreadable
from hyperkube.machinery.groups import GroupVersion
from hyperkube.machinery.schema import compile_schema


@pytest.fixture(scope="module")
def values():
    pytest.importorskip("hyperkube_storage.memory", reason="needs the storage backend")
    pytest.importorskip("hyperkube_api.apiregistration", reason="needs the API groups")
    server = ApiServer(options={"storage-backend": "memory"})
    yield StoredValues(lambda: server.registry)
    server.close()


def test_json_is_left_alone(values):
    stored = b'{"kind":"ConfigMap","apiVersion":"v1"}'

    value, stale = values.transform_from_storage("/registry/configmaps/d/a", stored)

    assert value is stored
    assert not stale


def test_protobuf_becomes_json_that_is_to_be_written_anew(values):
    obj = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}, "data": {"k": "v"}}
    stored = Protobuf().encode(obj, compile_schema("hyperkube_api.core.v1:ConfigMap"))

    value, stale = values.transform_from_storage("/registry/configmaps/d/a", stored)

    assert orjson.loads(value) == obj
    assert stale


SCALER = {
    "kind": "HorizontalPodAutoscaler",
    "apiVersion": "autoscaling/v2",
    "metadata": {"name": "a", "namespace": "d"},
    "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "x"}, "minReplicas": 1, "maxReplicas": 3, "metrics": [
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
    ]},
}  # fmt: skip
SCALER_KEY = "/registry/horizontalpodautoscalers/d/a"


@pytest.fixture
def older_values(values):
    return StoredValues(values._registry, [GroupVersion("autoscaling", "v1")])


def test_another_version_can_be_stored(values, older_values):
    value = orjson.dumps(SCALER)

    stored = older_values.transform_to_storage(SCALER_KEY, value)

    document = orjson.loads(stored)
    assert list(document)[:2] == ["kind", "apiVersion"]
    assert (document["apiVersion"], document["spec"]["targetCPUUtilizationPercentage"]) == ("autoscaling/v1", 80)
    assert orjson.loads(older_values.transform_from_storage(SCALER_KEY, stored)[0])["spec"] == SCALER["spec"]
    assert older_values.transform_from_storage(SCALER_KEY, stored)[1] is False
    assert older_values.transform_from_storage(SCALER_KEY, value) == (value, True)
    assert values.transform_from_storage(SCALER_KEY, stored)[1] is True
    assert orjson.loads(values.transform_from_storage(SCALER_KEY, stored)[0])["apiVersion"] == "autoscaling/v2"


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (b"k8s\x00\xff\xff", "."),
        (b"k8s\x00\x0a\x09\x0a\x02v9\x12\x03Odd", "no kind 'Odd' is registered for version 'v9'"),
    ],
    ids=["broken", "unknown kind"],
)
def test_what_cannot_be_read_says_why(values, stored, message):
    with pytest.raises(Unreadable, match=message):
        values.transform_from_storage("/registry/odd/a", stored)


def test_an_old_definition_gives_each_version_what_all_shared():
    schema = {"openAPIV3Schema": {"type": "object"}}
    old = {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "spec": {
            "group": "g",
            "version": "v1",
            "validation": schema,
            "versions": [{"name": "v1", "served": True, "storage": True}, {"name": "v2", "served": True}],
            "additionalPrinterColumns": [{"name": "Size", "JSONPath": ".spec.size"}],
            "conversion": {
                "strategy": "Webhook",
                "webhookClientConfig": {"url": "https://x"},
                "conversionReviewVersions": ["v1"],
            },
            "preserveUnknownFields": False,
        },
    }

    new = from_v1beta1(old)

    columns = [{"name": "Size", "jsonPath": ".spec.size"}]
    assert new["apiVersion"] == "apiextensions.k8s.io/v1"
    assert new["spec"] == {
        "group": "g",
        "versions": [
            {"schema": schema, "additionalPrinterColumns": columns, "name": "v1", "served": True, "storage": True},
            {"schema": schema, "additionalPrinterColumns": columns, "name": "v2", "served": True},
        ],
        "conversion": {
            "strategy": "Webhook",
            "webhook": {"clientConfig": {"url": "https://x"}, "conversionReviewVersions": ["v1"]},
        },
    }


def test_an_old_definition_may_name_its_one_version():
    new = from_v1beta1({"spec": {"version": "v1", "validation": {"openAPIV3Schema": {}}}})

    assert new["spec"]["versions"] == [
        {"schema": {"openAPIV3Schema": {}}, "name": "v1", "served": True, "storage": True}
    ]
