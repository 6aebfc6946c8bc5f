"""``/scale`` of a custom object whose replicas nobody has set: it cannot be read, but it can be patched."""

import pytest

from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import LOOPBACK
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.autoscaling", reason="needs Scale")

TOYS = GroupVersionResource("example.com", "v1", "toys")
SPEC = {"type": "object", "properties": {"size": {"type": "integer"}}}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "toys.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "toys", "kind": "Toy"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC}}},
                "subresources": {"scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}},
            }
        ],
    },
}


@pytest.fixture(scope="module")
def client(server):
    made = server.client(LOOPBACK)
    made.create(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION)
    eventually(lambda: server.registry.find(TOYS) is not None)
    return made


@pytest.fixture(autouse=True)
def toy(client):
    created = {"apiVersion": "example.com/v1", "kind": "Toy", "metadata": {"name": "a"}, "spec": {}}
    yield client.create(TOYS, created, "default")
    client.delete(TOYS, "a", "default")


def scaled(client, patch):
    return client.patch(TOYS, "a", patch, "default", subresource="scale")


def test_it_cannot_be_read(client):
    with pytest.raises(ApiError, match=r'the spec replicas field "\.spec\.size" does not exist'):
        client.get(TOYS, "a", "default", subresource="scale")


def test_a_patch_sets_them(client):
    assert scaled(client, {"spec": {"replicas": 3}})["spec"] == {"replicas": 3}
    assert client.get(TOYS, "a", "default")["spec"] == {"size": 3}


def test_a_patch_of_something_else_is_refused(client):
    with pytest.raises(ApiError, match=r'the spec replicas field "\.spec\.size" cannot be empty') as refused:
        scaled(client, {"metadata": {"labels": {"a": "b"}}})
    assert refused.value.code == 400


def test_a_patch_does_not_set_less_than_none(client):
    with pytest.raises(ApiError, match=r"\.spec\.size: Invalid value: -1: should be a non-negative integer"):
        scaled(client, {"spec": {"replicas": -1}})
