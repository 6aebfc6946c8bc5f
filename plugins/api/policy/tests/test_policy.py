"""The types of the group policy: one of them is decoded, and comes back from protobuf."""

import pytest
from hyperkube_api.policy.resources import PolicyApi
from hyperkube_lib.protobuf import Protobuf
from hyperkube_testing.api import ApiContract

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema

OBJECT = {
    "metadata": {"name": "a"},
    "spec": {"minAvailable": "50%"},
    "status": {
        "disruptedPods": {"p": "2024-01-02T03:04:05Z"},
        "disruptionsAllowed": 0,
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "expectedPods": 0,
    },
}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.policy.v1:PodDisruptionBudget")


def test_a_poddisruptionbudget_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_a_poddisruptionbudget_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_a_poddisruptionbudget_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])


class TestContract(ApiContract):
    plugin = PolicyApi
