"""Empty lists that JSON always has come back as null, as from a store of protobuf; all others are left alone."""

import pytest
from hyperkube_host.apiserver.resources.nil_lists import nil_lists, with_nil_lists

from hyperkube.machinery.schema.reference import resolve

pytest.importorskip("hyperkube_api.rbac", reason="needs the API groups")


def kept(schema, obj):
    return with_nil_lists(obj, nil_lists(resolve(schema)))


@pytest.mark.parametrize(
    ("schema", "obj", "stored"),
    [
        ("hyperkube_api.rbac.v1:ClusterRole", {"rules": []}, {"rules": None}),
        ("hyperkube_api.rbac.v1:ClusterRole", {"rules": [{"verbs": []}]}, {"rules": [{"verbs": None}]}),
        ("hyperkube_api.storage.v1:CSINode", {"spec": {"drivers": []}}, {"spec": {"drivers": None}}),
    ],
    ids=["the list", "a list in its items", "a list in an object"],
)
def test_an_empty_list_is_null(schema, obj, stored):
    assert kept(schema, obj) == stored


@pytest.mark.parametrize(
    "obj",
    [{"rules": [{"verbs": ["get"]}]}, {"rules": None}, {}],
    ids=["full", "null", "missing"],
)
def test_what_stays_the_same_is_shared(obj):
    assert kept("hyperkube_api.rbac.v1:ClusterRole", obj) is obj
