"""The types of the group apiextensions: one of them is decoded, and comes back from protobuf."""

from types import SimpleNamespace

import pytest
from hyperkube_api.apiextensions.resources import ApiextensionsApi
from hyperkube_api.apiextensions.strategy import CustomResourceDefinitionStrategy
from hyperkube_lib.protobuf import Protobuf
from hyperkube_testing.api import ApiContract

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema

OBJECT = {
    "metadata": {"name": "as.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"plural": "as", "kind": "A"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "a": {"type": "array", "items": {"type": "string", "default": "x"}},
                            "b": {"type": "object", "additionalProperties": True},
                        },
                    }
                },
            }
        ],
    },
    "status": {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": None},
}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.apiextensions.v1:CustomResourceDefinition")


def test_a_customresourcedefinition_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_a_customresourcedefinition_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_a_customresourcedefinition_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])


def test_a_format_that_is_not_checked_is_warned_of_once():
    def crd(*formats):
        properties = {str(index): {"type": kind, "format": form} for index, (kind, form) in enumerate(formats)}
        schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
        return {"spec": {"versions": [{"name": "v1", "schema": schema}]}}

    strategy, call = CustomResourceDefinitionStrategy(), SimpleNamespace(subresource="")
    new = crd(("string", "x"), ("string", "x"), ("integer", "int32"), ("array", "cidr"))

    assert strategy.warnings(call, new, None) == ['unrecognized format "x"', 'unrecognized format "cidr"']
    assert strategy.warnings(call, new, crd(("string", "x"))) == ['unrecognized format "cidr"']


class TestContract(ApiContract):
    plugin = ApiextensionsApi
