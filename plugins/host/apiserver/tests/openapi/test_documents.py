"""The OpenAPI documents say what kube-apiserver's say, but for the prose."""

import json
from pathlib import Path

import pytest
from hyperkube_host.apiserver.openapi import OpenApi, gnostic_v3, v2
from hyperkube_host.apiserver.openapi.gnostic import encode_document
from hyperkube_lib.protobuf.wire_scalars import read_numbers
from hyperkube_lib.structural_schema.structural_type import StructuralType

from hyperkube.hookspecs.api import ResourceSpec, Subresource
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource

pytest.importorskip("hyperkube_api.apps.v1")

ALL = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
GOLDEN = Path(__file__).parents[6] / "shared" / "golden" / "dev" / "openapi"
CRD_SCHEMA = {
    "type": "object",
    "description": "A doodad.",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "default": 3},
                "mode": {"type": "string", "enum": ["a", "b"]},
                "any": {"x-kubernetes-int-or-string": True},
                "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "items": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                    "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}},
                },
            },
        }
    },
}


def resource(group, version, plural, kind, schema, **more):
    return ResourceSpec(
        resource=GroupVersionResource(group, version, plural),
        kind=GroupVersionKind(group, version, kind),
        singular=kind.lower(),
        namespaced=True,
        verbs=ALL,
        schema=schema,
        **more,
    )


DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")
DEPLOYMENTS = resource(
    "apps",
    "v1",
    "deployments",
    "Deployment",
    "hyperkube_api.apps.v1:Deployment",
    subresources=(
        Subresource(
            name="scale",
            kind=GroupVersionKind("autoscaling", "v1", "Scale"),
            verbs=("get", "patch", "update"),
            schema="hyperkube_api.autoscaling.v1:Scale",
        ),
        Subresource(name="status", kind=DEPLOYMENT, verbs=("get", "patch", "update")),
    ),
)
PODS = resource(
    "",
    "v1",
    "pods",
    "Pod",
    "hyperkube_api.core.v1:Pod",
    subresources=(
        Subresource(
            name="exec", kind=GroupVersionKind("", "v1", "PodExecOptions"), verbs=("create", "get"), connect=True
        ),
        Subresource(name="log", kind=GroupVersionKind("", "v1", "Pod"), verbs=("get",), connect=True),
    ),
)
DOODADS = resource("oa.example.com", "v1", "doodads", "Doodad", StructuralType(CRD_SCHEMA), list_kind="DoodadList")


@pytest.fixture
def served():
    return [PODS, DEPLOYMENTS, DOODADS]


@pytest.fixture
def openapi(served):
    return OpenApi(lambda: served, version="v1.36.2")


def read(openapi, path):
    return json.loads(openapi.document(path).body)


def without_prose(value):
    if isinstance(value, dict):
        return {
            key: without_prose(item)
            for key, item in value.items()
            if not (key == "description" and isinstance(item, str))
        }
    return [without_prose(item) for item in value] if isinstance(value, list) else value


def at(document, pointer):
    for part in pointer.split("/")[1:]:
        document = document[part.replace("~1", "/").replace("~0", "~")]
    return document


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the recorded answers are not here")
@pytest.mark.parametrize("scenario", ["oa-apps", "oa-crd"])
def test_documents_equal_the_recorded_ones_but_for_the_prose(openapi, scenario):
    compared = 0
    for step in json.loads((GOLDEN / f"{scenario}.json").read_text())["steps"]:
        path = step["do"]["path"].removeprefix("/openapi/v3/")
        if step["do"]["method"] != "GET" or "DaemonSet" in str(step["pick"]) or "StatefulSet" in str(step["pick"]):
            continue
        for pointer, expected in step["expect"]["body"].items():
            compared += 1
            assert without_prose(at(read(openapi, path), pointer)) == without_prose(expected), pointer

    assert compared >= 4


def test_the_index_names_every_document_with_its_hash(openapi):
    index = json.loads(openapi.index())["paths"]

    digest = openapi.document("apis/apps/v1").digest
    assert index["apis/apps/v1"] == {"serverRelativeURL": f"/openapi/v3/apis/apps/v1?hash={digest}"}
    assert {"api", "api/v1", "apis", "apis/apps", "apis/oa.example.com/v1", "version"} <= set(index)


def test_only_the_hash_of_what_changed_changes(openapi, served):
    before = json.loads(openapi.index())["paths"]
    served[2] = resource("oa.example.com", "v1", "doodads", "Doodad", StructuralType({"type": "object"}))

    openapi.invalidate()

    after = json.loads(openapi.index())["paths"]
    assert {path for path in after if after[path] != before[path]} == {"apis/oa.example.com/v1"}
    assert "spec" not in at(
        read(openapi, "apis/oa.example.com/v1"), "/components/schemas/com.example.oa.v1.Doodad/properties"
    )


def test_what_is_not_served_has_no_document(openapi):
    assert openapi.document("apis/nothing/v1") is None


def test_every_reference_leads_to_a_definition(openapi):
    for path in json.loads(openapi.index())["paths"]:
        document = read(openapi, path)
        text = json.dumps(document)
        names = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
        assert names <= set(document["components"]["schemas"]), path


def test_patch_operations_take_field_validation_and_say_their_kind(openapi):
    patch = at(read(openapi, "api/v1"), "/paths/~1api~1v1~1namespaces~1{namespace}~1pods~1{name}/patch")

    assert "fieldValidation" in [parameter["name"] for parameter in patch["parameters"]]
    assert patch["x-kubernetes-group-version-kind"] == {"group": "", "version": "v1", "kind": "Pod"}


def test_streams_are_connected_to_by_get_and_post(openapi):
    paths = read(openapi, "api/v1")["paths"]

    assert (
        paths["/api/v1/namespaces/{namespace}/pods/{name}/exec"]["post"]["operationId"]
        == "connectCoreV1PostNamespacedPodExec"
    )
    assert paths["/api/v1/namespaces/{namespace}/pods/{name}/log"]["get"]["operationId"] == "readCoreV1NamespacedPodLog"


def test_operations_have_names_of_their_own(openapi):
    for path in ("api/v1", "apis/apps/v1", "apis/oa.example.com/v1"):
        names = [
            operation["operationId"]
            for item in read(openapi, path)["paths"].values()
            for method, operation in item.items()
            if method != "parameters"
        ]
        assert len(names) == len(set(names))


def test_version_2_has_definitions_in_its_own_words(openapi):
    document = json.loads(openapi.v2().body)

    rolling = document["definitions"]["io.k8s.api.apps.v1.RollingUpdateDeployment"]["properties"]["maxSurge"]
    assert rolling["$ref"] == "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString"
    assert document["definitions"]["io.k8s.apimachinery.pkg.api.resource.Quantity"]["type"] == "string"
    options = document["definitions"]["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]
    assert {"group": "apps", "kind": "DeleteOptions", "version": "v1"} in options["x-kubernetes-group-version-kind"]
    post = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments"]["post"]
    assert post["parameters"][0]["schema"] == {"$ref": "#/definitions/io.k8s.api.apps.v1.Deployment"}
    assert "components" not in openapi.v2().body.decode()


def test_only_what_changed_is_built_anew_for_version_2(openapi, served, monkeypatch):
    before = json.loads(openapi.v2().body)
    built = []
    build = v2.part_of
    monkeypatch.setattr(v2, "part_of", lambda document: built.append(1) or build(document))
    schema = StructuralType({"type": "object", "properties": {"spec": {"type": "object"}}})

    served.append(resource("more.example.com", "v1", "gadgets", "Gadget", schema))
    openapi.invalidate()
    grown = json.loads(openapi.v2().body)
    served.pop()
    openapi.invalidate()

    assert len(built) == 1
    added = {name for name in grown["definitions"] if name not in before["definitions"]}
    assert added == {"com.example.more.v1.Gadget", "com.example.more.v1.GadgetList"}
    assert {kind["group"] for kind in delete_options(grown)} - {kind["group"] for kind in delete_options(before)} == {
        "more.example.com"
    }
    assert json.loads(openapi.v2().body) == before
    assert len(built) == 1


def delete_options(document):
    name = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
    return document["definitions"][name]["x-kubernetes-group-version-kind"]


def test_version_2_says_nothing_of_a_kind_that_may_have_any_fields(served):
    preserving = {"type": "object", "description": "Any.", "x-kubernetes-preserve-unknown-fields": True}
    served.append(resource("more.example.com", "v1", "gadgets", "Gadget", StructuralType(preserving)))
    openapi = OpenApi(lambda: served, version="v1.36.2")

    assert json.loads(openapi.v2().body)["definitions"]["com.example.more.v1.Gadget"] == {
        "type": "object",
        "x-kubernetes-group-version-kind": [{"group": "more.example.com", "kind": "Gadget", "version": "v1"}],
    }
    shown = read(openapi, "apis/more.example.com/v1")["components"]["schemas"]["com.example.more.v1.Gadget"]
    assert "metadata" in shown["properties"]


def test_version_3_as_protobuf_has_its_parts_under_their_numbers():
    document = {
        "openapi": "3.0.0",
        "info": {"title": "K", "version": "v"},
        "paths": {"/a": {"get": {"operationId": "getA", "responses": {"200": {"description": "OK"}}}}},
        "components": {
            "schemas": {
                "A": {"properties": {"b": {"default": {}, "allOf": [{"$ref": "#/B"}]}, "c": {"default": True}}}
            },
            "securitySchemes": {"Token": {"type": "apiKey", "in": "header"}},
        },
    }

    fields = read_numbers(gnostic_v3.encode_document(document))

    assert (fields[1], read_numbers(fields[2])) == (b"3.0.0", {1: b"K", 6: b"v"})
    path = read_numbers(read_numbers(fields[4])[1])
    operation = read_numbers(read_numbers(path[2])[4])
    response = read_numbers(read_numbers(operation[8])[2])
    assert (path[1], operation[5], response[1]) == (b"/a", b"getA", b"200")
    assert read_numbers(read_numbers(response[2])[1]) == {1: b"OK"}
    components = read_numbers(fields[5])
    schema = read_numbers(read_numbers(components[1])[1])
    properties = read_numbers(read_numbers(read_numbers(schema[2])[1])[31])
    last = read_numbers(read_numbers(properties[1])[2])
    assert read_numbers(last[1])[33] == b"\x10\x01"
    scheme = read_numbers(read_numbers(components[7])[1])
    assert (scheme[1], read_numbers(read_numbers(scheme[2])[1])) == (b"Token", {1: b"apiKey", 4: b"header"})


def test_a_reference_in_version_3_is_no_schema():
    document = {"components": {"schemas": {"A": {"allOf": [{"$ref": "#/B"}], "x-kubernetes-map-type": "atomic"}}}}

    components = read_numbers(read_numbers(gnostic_v3.encode_document(document))[5])
    schema = read_numbers(read_numbers(read_numbers(read_numbers(components[1])[1])[2])[1])

    assert read_numbers(schema[26]) == {2: b"\x0a\x03#/B"}
    assert read_numbers(schema[36])[1] == b"x-kubernetes-map-type"


def test_version_2_as_protobuf_has_its_parts_under_their_numbers():
    document = {
        "swagger": "2.0",
        "info": {"title": "K", "version": "v"},
        "paths": {},
        "definitions": {"A": {"type": "object", "x-kubernetes-map-type": "atomic"}},
    }

    fields = read_numbers(encode_document(document))

    assert fields[1] == b"2.0"
    entry = read_numbers(read_numbers(fields[9])[1])
    assert entry[1] == b"A"
    definition = read_numbers(entry[2])
    assert definition[22] == b"\x0a\x06object"
    assert definition[31] == b'\x0a\x15x-kubernetes-map-type\x12\x0a\x12\x08"atomic"'
