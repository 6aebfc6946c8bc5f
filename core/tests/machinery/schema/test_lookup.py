"""What patches and server-side apply learn about a place in an object."""

import pytest

from hyperkube.machinery.schema import compile_schema

pytest.importorskip("hyperkube_api.core.v1")


@pytest.fixture
def pod():
    return compile_schema("hyperkube_api.core.v1:Pod").type


def walk(info, *path):
    for step in path:
        info = info.items if step == "[]" else info.field(step)
    return info


def test_a_list_of_type_map_tells_its_keys_and_its_merge_key(pod):
    ports = walk(pod, "spec", "containers", "[]", "ports")

    assert (ports.form, ports.list_type, ports.list_map_keys) == ("list", "map", ("containerPort", "protocol"))
    assert (ports.patch_strategy, ports.patch_merge_key) == ("merge", "containerPort")
    assert ports.items.field("protocol").default == "TCP"


def test_a_list_without_a_type_is_atomic(pod):
    assert walk(pod, "spec", "tolerations").list_type == "atomic"


def test_members_of_inlined_structs_are_members_of_the_outer_one(pod):
    volume = walk(pod, "spec", "volumes", "[]")

    assert volume.field("emptyDir").is_struct
    assert volume.field("volumeSource") is None


def test_maps_know_any_key_and_structs_only_theirs(pod):
    assert walk(pod, "metadata", "labels", "anything").is_scalar
    assert pod.field("anything") is None


def test_atomic_maps_and_structs_say_so(pod):
    deployment = compile_schema("hyperkube_api.apps.v1:Deployment").type

    assert walk(pod, "spec", "nodeSelector").map_type == "atomic"
    assert walk(deployment, "spec", "selector").struct_type == "atomic"
    assert walk(deployment, "spec", "template").struct_type == "granular"


def test_types_that_contain_themselves_can_be_walked():
    schema = compile_schema("hyperkube_api.apiextensions.v1:JSONSchemaProps").type

    assert walk(schema, "properties", "a", "properties", "b", "not").is_struct
    assert walk(schema, "items").form == "untyped"
