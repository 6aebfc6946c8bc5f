"""Custom resources on the wire: scopes, kinds, numbers, owners, defaults of versions and their warnings."""

import orjson
import pytest
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import LOOPBACK
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.apiextensions", reason="needs the group of definitions")

GROUP = "example.com"
INT_OR_STRING = {
    "x-kubernetes-int-or-string": True,
    "x-kubernetes-validations": [{"rule": "type(self) == int ? self < 10 : self == '10%'"}],
}
OPTIONAL = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "x-kubernetes-validations": [{"rule": "self.?a.orValue(5) == 5"}],
}
FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
ANY_VALUES = {"type": "object", "additionalProperties": True}
PROPERTIES = {"ios": INT_OR_STRING, "opt": OPTIONAL, "free": FREE, "any": ANY_VALUES}
BASE = "/apis/example.com/{}/namespaces/default/{}"


def version(name, properties, *, storage=False, **more):
    spec = {"type": "object", "properties": properties}
    schema = {"type": "object", "properties": {"spec": spec}}
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}, **more}


def definition(plural, scope="Namespaced"):
    text = {"type": "string"}
    return {
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": scope,
            "names": {"plural": plural, "kind": plural.capitalize()},
            "versions": [
                version("v1", {**PROPERTIES, "b": {**text, "default": "of v1"}}, storage=True),
                version("v2", {**PROPERTIES, "c": {**text, "default": "of v2"}}),
                version("v1beta1", {}, deprecated=True),
            ],
        },
    }


@pytest.fixture(scope="module")
def server(server):
    client = server.client(LOOPBACK)
    for plural, scope in (("things", "Namespaced"), ("worlds", "Cluster")):
        client.create(CUSTOM_RESOURCE_DEFINITIONS, definition(plural, scope))
        resource = GroupVersionResource(GROUP, "v1", plural)
        eventually(lambda resource=resource: server.registry.find(resource))
    return server


def ask(server, method, path, body=None, *, kind="application/json", query=""):
    content = body if isinstance(body, bytes) else orjson.dumps(body) if body is not None else b""
    request = HttpRequest(
        method=method, path=path, query_string=query, headers={"content-type": kind}, body=content, user=LOOPBACK
    )
    return server.handler.handle(request)


def create(server, name, spec, *, version="v1"):
    api_version = f"{GROUP}/{version}"
    body = {"apiVersion": api_version, "kind": "Things", "metadata": {"name": name}, "spec": spec}
    return ask(server, "POST", BASE.format(version, "things"), body)


@pytest.mark.parametrize(
    ("spec", "status"),
    [({"ios": 5}, 201), ({"ios": 50}, 422), ({"ios": "10%"}, 201), ({"ios": "9%"}, 422), ({"opt": {}}, 201)],
)
def test_rules_speak_of_int_or_string_and_of_optional_members(server, spec, status):
    assert create(server, f"rule-{abs(hash(str(spec)))}", spec).status == status


def test_an_object_of_another_version_has_the_defaults_of_the_stored_one(server):
    made = orjson.loads(create(server, "defaults", {}, version="v2").body)

    assert made["spec"] == {}
    path = BASE.format("v1", "things") + "/defaults"
    assert orjson.loads(ask(server, "GET", path).body)["spec"] == {"b": "of v1"}


def test_a_deprecated_version_names_the_one_to_use(server):
    answer = ask(server, "GET", BASE.format("v1beta1", "things"))

    warnings = [value for name, value in answer.headers if name == "Warning"]
    assert warnings == ['299 - "example.com/v1beta1 Things is deprecated; use example.com/v2 Things"']


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", BASE.format("v1", "worlds")),
        ("GET", "/apis/example.com/v1/things/x"),
        ("POST", "/apis/example.com/v1/things"),
        ("DELETE", "/apis/example.com/v1/things"),
    ],
)
def test_what_is_out_of_scope_is_not_there(server, method, path):
    answer = ask(server, method, path)

    assert (answer.status, answer.body) == (404, b"404 page not found\n")


def test_an_object_says_what_it_is(server):
    body = b'{"metadata":{"name":"b"}}'

    answer = ask(server, "POST", BASE.format("v1", "things"), body)

    text = f"Object 'Kind' is missing in '{body.decode()}' ({body.decode()})"
    assert (
        orjson.loads(answer.body)["message"] == f"the object provided is unrecognized (must be of type Things): {text}"
    )


def test_a_number_beyond_64_bits_is_written_as_a_float(server):
    made = create(server, "numbers", {"free": {"n": 12345678901234567890, "m": 2**63 - 1}})

    assert orjson.loads(made.body)["spec"]["free"] == {"n": 12345678901234567000, "m": 2**63 - 1}


def test_members_of_what_is_preserved_have_their_own_owners(server):
    path = BASE.format("v1", "things") + "/owned"
    head = {"apiVersion": "example.com/v1", "kind": "Things", "metadata": {"name": "owned"}}
    for manager, free in (("one", {"x": 1}), ("two", {"y": {"z": 2}})):
        body = {**head, "spec": {"free": free}}
        answer = ask(server, "PATCH", path, body, kind="application/apply-patch+yaml", query=f"fieldManager={manager}")

    obj = orjson.loads(answer.body)
    owned = {entry["manager"]: entry["fieldsV1"]["f:spec"]["f:free"] for entry in obj["metadata"]["managedFields"]}
    assert obj["spec"]["free"] == {"x": 1, "y": {"z": 2}}
    assert owned == {"one": {"f:x": {}}, "two": {"f:y": {".": {}, "f:z": {}}}}


def test_any_value_is_kept_without_what_it_does_not_declare(server):
    answer = create(server, "values", {"any": {"a": 1, "b": {"c": []}}})

    assert orjson.loads(answer.body)["spec"]["any"] == {"a": 1, "b": {}}
    assert ("Warning", '299 - "unknown field \\"spec.any.b.c\\""') in answer.headers
