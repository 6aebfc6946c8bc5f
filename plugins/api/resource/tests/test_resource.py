"""The types of the group resource: one of them is decoded, and comes back from protobuf."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.resource.resource_slices.defaults import default_taints
from hyperkube_api.resource.resources import ResourceApi
from hyperkube_lib.protobuf import Protobuf
from hyperkube_testing.api import ApiContract

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema

OBJECT = {"metadata": {"name": "a"}, "spec": {"selectors": [{"cel": {"expression": "true"}}]}}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.resource.v1:DeviceClass")


def test_a_deviceclass_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_a_deviceclass_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_a_deviceclass_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])


def test_a_taint_of_a_device_says_since_when_it_is_there():
    old = "2020-01-01T00:00:00Z"
    devices = [{"name": "a", "taints": [{"key": "k", "effect": "NoExecute"}]}, {"name": "b"}]
    devices.append({"name": "c", "taints": [{"key": "k", "effect": "NoExecute", "timeAdded": old}]})
    spec = {"devices": devices}

    for now in (datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)):
        default_taints(spec, now)

    assert [[taint["timeAdded"] for taint in each.get("taints", [])] for each in devices] == [
        ["2026-01-01T00:00:00Z"],
        [],
        [old],
    ]


class TestContract(ApiContract):
    plugin = ResourceApi
