"""The types of the group discovery: one of them is decoded, and comes back from protobuf."""

import pytest
from hyperkube_api.discovery.resources import DiscoveryApi
from hyperkube_lib.protobuf import Protobuf
from hyperkube_testing.api import ApiContract

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema

OBJECT = {
    "metadata": {"name": "a"},
    "addressType": "IPv4",
    "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": True}}],
    "ports": [{"name": "", "protocol": "TCP", "port": 80}],
}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.discovery.v1:EndpointSlice")


def test_an_endpointslice_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_an_endpointslice_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_an_endpointslice_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])


class TestContract(ApiContract):
    plugin = DiscoveryApi
