"""A list of all groups says what the lists of each group version say."""

import orjson
import pytest
from hyperkube_host.apiserver.aggregation.resources import ACCEPT, is_whole, rows_of_version, rows_of_whole
from hyperkube_lib.serving.exchange import Response

STATUS = {"subresource": "status", "responseKind": {"kind": "Thing"}, "verbs": ["get"]}
SCALE = {
    "subresource": "scale",
    "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
    "verbs": ["get", "update"],
}
THINGS = {
    "resource": "things",
    "responseKind": {"group": "ext.example.com", "version": "v1", "kind": "Thing"},
    "scope": "Namespaced",
    "singularResource": "thing",
    "verbs": ["get", "list"],
    "shortNames": ["th"],
    "categories": ["all"],
    "subresources": [STATUS, SCALE],
}
WHOLE = {
    "kind": "APIGroupDiscoveryList",
    "apiVersion": "apidiscovery.k8s.io/v2",
    "items": [
        {"metadata": {"name": "other"}, "versions": []},
        {
            "metadata": {"name": "ext.example.com"},
            "versions": [
                {"version": "v1", "resources": [THINGS, {"resource": "worlds", "scope": "Cluster"}]},
                {"version": "v2", "resources": []},
            ],
        },
    ],
}


def test_a_list_of_all_groups_becomes_rows():
    rows = rows_of_whole(orjson.dumps(WHOLE), "ext.example.com", "v1")

    thing = {"singularName": "thing", "namespaced": True, "kind": "Thing", "verbs": ["get", "list"]}
    part = {"singularName": "", "namespaced": True}
    scale = {"group": "autoscaling", "version": "v1", "kind": "Scale", "verbs": ["get", "update"]}
    assert rows == (
        {"name": "things", **thing, "shortNames": ["th"], "categories": ["all"]},
        {"name": "things/status", **part, "kind": "Thing", "verbs": ["get"]},
        {"name": "things/scale", **part, **scale},
        {"name": "worlds", "singularName": "", "namespaced": False, "kind": "", "verbs": []},
    )


@pytest.mark.parametrize(("group", "version"), [("ext.example.com", "v3"), ("nothing", "v1"), ("other", "v1")])
def test_a_group_version_that_it_does_not_have_has_no_rows(group, version):
    assert rows_of_whole(orjson.dumps(WHOLE), group, version) == ()


@pytest.mark.parametrize(
    ("content_type", "status", "expected"),
    [
        ("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", 200, True),
        ("application/json; g=apidiscovery.k8s.io; v=v2beta1; as=APIGroupDiscoveryList", 200, True),
        ("application/json", 200, False),
        ("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", 406, False),
    ],
)
def test_the_media_type_tells_a_list_of_all_groups(content_type, status, expected):
    assert is_whole(Response(status=status, headers=[("Content-Type", content_type)])) is expected


@pytest.mark.parametrize(
    ("body", "rows"),
    [(b'{"resources":[{"name":"a"},1]}', ({"name": "a"},)), (b"{}", ()), (b"[]", ()), (b"ok", ()), (b"", ())],
)
def test_what_is_no_list_of_resources_has_no_rows(body, rows):
    assert rows_of_version(body) == rows


def test_the_newest_form_is_asked_for_first():
    assert ACCEPT.split(",")[0] == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    assert ACCEPT.endswith(",application/json")
