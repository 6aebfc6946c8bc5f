"""The types of the group node: one of them is decoded, and comes back from protobuf."""

import pytest
from hyperkube_api.node.resources import NodeApi
from hyperkube_lib.protobuf import Protobuf
from hyperkube_testing.api import ApiContract

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema

OBJECT = {"metadata": {"name": "a"}, "handler": "runc", "overhead": {"podFixed": {"cpu": "10m"}}}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.node.v1:RuntimeClass")


def test_a_runtimeclass_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_a_runtimeclass_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_a_runtimeclass_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])


class TestContract(ApiContract):
    plugin = NodeApi
