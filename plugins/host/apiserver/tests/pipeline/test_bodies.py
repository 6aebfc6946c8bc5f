"""Bodies that are no object, or another one, in the words of the decoder that meets them first."""

import orjson
import pytest
from hyperkube_lib.protobuf import open_envelope
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.machinery.users import LOOPBACK

pytest.importorskip("hyperkube_api.apps", reason="needs the API groups")

MAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
JSON, MERGE = "application/json", "application/merge-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
NO_OBJECT = "json: cannot unmarshal {} into Go value of type map[string]interface {{}}"
PROTOBUF = "application/vnd.kubernetes.protobuf"


@pytest.fixture(scope="module")
def server(server):
    ask(server, "POST", MAPS, b'{"metadata": {"name": "a"}}')
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    ask(server, "POST", DEPLOYMENTS, orjson.dumps({"metadata": {"name": "d"}, "spec": spec}))
    return server


def ask(server, method, path, body=b"", kind=JSON, accept="", query="fieldManager=m"):
    headers = {"content-type": kind, "accept": accept}
    return server.handler.handle(
        HttpRequest(method=method, path=path, query_string=query, headers=headers, body=body, user=LOOPBACK)
    )


def message(answer):
    return orjson.loads(answer.body).get("message", "")


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        (MERGE, b"null", "Invalid JSON Patch"),
        (MERGE, b"{", "error decoding patch: unexpected end of JSON input"),
        (STRATEGIC, b"{", "unexpected end of JSON input"),
        (APPLY, b"", "invalid object type: /, Kind="),
        (APPLY, b"{}", "invalid object type: /, Kind="),
        (APPLY, b'{"apiVersion": "a/b/c", "kind": "X"}', "invalid object type: /, Kind=X"),
        (APPLY, b'{"apiVersion": "apps/v1", "kind": "X"}', "invalid object type: apps/v1, Kind=X"),
        (APPLY, b'{"apiVersion": "v1", "kind": "X"}', "invalid object type: /v1, Kind=X"),
        (
            APPLY,
            b"5",
            f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {NO_OBJECT.format('number')}",
        ),
        (
            APPLY,
            b"{",
            "error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content",
        ),
    ],
)
def test_a_patch_that_is_none_is_refused(server, kind, body, said):
    answer = ask(server, "PATCH", f"{MAPS}/a", body, kind)

    assert (answer.status, message(answer)) == (400, said)


@pytest.mark.parametrize("body", [b"null", b'{"kind": "Bogus", "apiVersion": "v9"}'], ids=["null", "another kind"])
def test_a_strategic_patch_changes_no_kind(server, body):
    answer = ask(server, "PATCH", f"{MAPS}/a", body, STRATEGIC)

    assert (answer.status, orjson.loads(answer.body)["kind"]) == (200, "ConfigMap")


@pytest.mark.parametrize("kind", ["List", "Status", "APIGroup", "PodLogOptions", "WatchEvent"])
def test_a_kind_that_no_resource_has_is_known_all_the_same(server, kind):
    answer = ask(server, "POST", MAPS, orjson.dumps({"apiVersion": "v1", "kind": kind}))

    assert message(answer).endswith(f"converting (v1.{kind}) to (core.ConfigMap): unknown conversion")


@pytest.mark.parametrize("number", ["1e400", "1.50", "1E3"])
def test_a_number_is_shown_as_it_was_written(server, number):
    answer = ask(server, "POST", MAPS, b'{"metadata": {"name": "x", "generation": %s}}' % number.encode())

    assert f"json: cannot unmarshal number {number} into Go struct field" in message(answer)


def test_a_scale_is_written_as_protobuf(server):
    answer = ask(server, "GET", f"{DEPLOYMENTS}/d/scale", accept=PROTOBUF)

    envelope = open_envelope(answer.body)
    assert (envelope.api_version, envelope.kind) == ("autoscaling/v1", "Scale")


def test_a_scale_is_named_where_a_list_was_wanted(server):
    wanted = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

    answer = ask(server, "GET", f"{DEPLOYMENTS}/d/scale", accept=wanted)

    assert message(answer).endswith("but the requested object is not a list (*autoscaling.Scale)")
