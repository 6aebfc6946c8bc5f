"""What variables and downward API files say of a pod."""

import pytest
from hyperkube_lib.pod_fields import FieldUnknown, field_value, resource_value

POD = {
    "metadata": {
        "name": "web-0",
        "namespace": "shop",
        "uid": "u-1",
        "labels": {"b": 'a "quoted"\nline', "a": "1"},
        "annotations": {"example.com/note": "x"},
    },
    "spec": {"nodeName": "box"},
}
IPS = {"status.podIP": "127.0.0.9"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "web-0"),
        ("metadata.namespace", "shop"),
        ("metadata.uid", "u-1"),
        ("metadata.generateName", ""),
        ("metadata.labels", 'a="1"\nb="a \\"quoted\\"\\nline"'),
        ("metadata.labels['a']", "1"),
        ("metadata.labels['c']", ""),
        ("metadata.annotations['example.com/note']", "x"),
        ("spec.nodeName", "box"),
        ("spec.serviceAccountName", ""),
        ("status.podIP", "127.0.0.9"),
    ],
)
def test_a_field_is_text(path, value):
    assert field_value(path, POD, IPS) == value


def test_other_fields_cannot_be_asked_for():
    with pytest.raises(FieldUnknown, match=r"unsupported fieldPath: status\.phase"):
        field_value("status.phase", POD, IPS)


@pytest.mark.parametrize(
    ("resource", "divisor", "value"),
    [
        ("limits.memory", None, "134217728"),
        ("limits.memory", "1Mi", "128"),
        ("requests.memory", "100M", "2"),
        ("limits.cpu", None, "4"),
        ("limits.cpu", "1m", "4000"),
        ("requests.cpu", "0", "1"),
        ("requests.ephemeral-storage", None, "0"),
    ],
)
def test_a_resource_is_rounded_up_in_its_divisor(resource, divisor, value):
    container = {"resources": {"limits": {"memory": "128Mi"}, "requests": {"cpu": "250m"}}}

    assert resource_value({"resource": resource, "divisor": divisor}, container, {"cpu": "4"}) == value


def test_other_resources_cannot_be_asked_for():
    with pytest.raises(FieldUnknown, match="unsupported container resource : cpu"):
        resource_value({"resource": "cpu"}, {}, {})
