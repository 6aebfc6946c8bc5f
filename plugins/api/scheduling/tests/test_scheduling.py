"""The types of the group scheduling: one of them is decoded, and comes back from protobuf."""

import pytest
from hyperkube_api.scheduling.resources import SchedulingApi
from hyperkube_lib.protobuf import Protobuf
from hyperkube_testing.api import ApiContract

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema

OBJECT = {"metadata": {"name": "a"}, "value": -5, "preemptionPolicy": "Never"}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.scheduling.v1:PriorityClass")


def test_a_priorityclass_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_a_priorityclass_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_a_priorityclass_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])


class TestContract(ApiContract):
    plugin = SchedulingApi
