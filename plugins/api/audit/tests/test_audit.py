"""The types of the group audit: one of them is decoded, and comes back from protobuf."""

import pytest
from hyperkube_lib.protobuf import Protobuf

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema

OBJECT = {
    "level": "Metadata",
    "auditID": "i",
    "stage": "ResponseComplete",
    "requestURI": "/",
    "verb": "get",
    "user": {},
    "requestReceivedTimestamp": "2024-01-02T03:04:05.000001Z",
    "stageTimestamp": "2024-01-02T03:04:05.000002Z",
}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.audit.v1:Event")


def test_an_event_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_an_event_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_an_event_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])
