"""The types of the group meta: one of them is decoded, and comes back from protobuf."""

import pytest
from hyperkube_lib.protobuf import Protobuf

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema

OBJECT = {
    "metadata": {},
    "status": "Failure",
    "reason": "NotFound",
    "details": {"name": "a", "causes": [{"reason": "r", "field": "f"}]},
    "code": 404,
}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.meta.v1:Status")


def test_a_status_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_a_status_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_a_status_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])
