"""A small kind with every sort of list and map, for the tests of patches."""

import pytest

from hyperkube.machinery.schema import CompiledSchema, KubeObject, KubeSchema, Package, compile_schema
from hyperkube.machinery.schema.fields import Int32, List, Map, String, Struct

PACKAGE = Package("example.com", "v1", "com.example.v1", "com.example.v1")


class Port(KubeSchema):
    port = Int32(1)
    protocol = String(2, omitempty=True, default="TCP")
    name = String(3, omitempty=True)


class Selector(KubeSchema, struct_type="atomic"):
    labels = Map(String(), 1, omitempty=True)


class Condition(KubeSchema):
    type = String(1)
    status = String(2, omitempty=True)
    reason = String(3, omitempty=True)


class ThingSpec(KubeSchema):
    replicas = Int32(1, ptr=True, omitempty=True)
    ports = List(
        "Port", 2, omitempty=True, list_type="map", list_map_keys=("port", "protocol"), patch_strategy="merge",
        patch_merge_key="port",
    )  # fmt: skip
    finalizers = List(String(), 3, omitempty=True, list_type="set", patch_strategy="merge")
    args = List(String(), 4, omitempty=True, list_type="atomic")
    selector = Struct("Selector", 5, ptr=True, omitempty=True)
    strategy = Struct("Selector", 6, ptr=True, omitempty=True, patch_strategy="retainKeys")
    conditions = List("Condition", 7, omitempty=True, list_type="map", list_map_keys=("type",))


class ThingMeta(KubeSchema):
    name = String(1, omitempty=True)
    uid = String(3, omitempty=True)
    labels = Map(String(), 2, omitempty=True)
    annotations = Map(String(), 4, omitempty=True)


class Thing(KubeObject):
    metadata = Struct("ThingMeta", 1, omitempty=True)
    spec = Struct("ThingSpec", 2, omitempty=True)


@pytest.fixture
def thing() -> CompiledSchema:
    """The compiled schema of Thing."""
    return compile_schema(Thing)
