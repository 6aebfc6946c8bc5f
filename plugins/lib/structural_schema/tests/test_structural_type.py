"""A structural schema tells patches and server-side apply about a place in an object as a built-in type does."""

from hyperkube_lib.structural_schema.structural_type import StructuralType

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package, compile_schema
from hyperkube.machinery.schema.fields import List, String, Struct

PACKAGE = Package("example.com", "v1", "com.example.v1", "com.example.v1")


class Meta(KubeSchema):
    finalizers = List(String(), 1, omitempty=True, list_type="set")


class Thing(KubeObject):
    metadata = Struct("Meta", 1, omitempty=True)


def walk(info, *path):
    for step in path:
        info = info.items if step == "[]" else info.field(step)
    return info


def test_structural_schemas_answer_the_same_questions():
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "rows": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["id"],
                        "items": {"type": "object", "properties": {"id": {"type": "string", "default": "a"}}},
                    },
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                    "port": {"x-kubernetes-int-or-string": True},
                },
            }
        },
    }

    info = StructuralType(schema, root=compile_schema(Thing).type.field("metadata"))

    assert walk(info, "spec", "rows").list_map_keys == ("id",)
    assert walk(info, "spec", "rows", "[]", "id").default == "a"
    assert walk(info, "spec", "free").form == "untyped"
    assert walk(info, "spec", "labels", "x").is_scalar
    assert walk(info, "spec", "port").is_scalar
    assert walk(info, "metadata", "finalizers").list_type == "set"
    assert walk(info, "spec", "nothing") is None
