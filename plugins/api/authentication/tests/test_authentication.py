"""The types of the group authentication: one of them is decoded, and comes back from protobuf."""

import pytest
from hyperkube_api.authentication.resources import AuthenticationApi

from hyperkube.machinery.codecs.protobuf import Protobuf
from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema
from hyperkube.testing.contracts.api import ApiContract

OBJECT = {
    "metadata": {},
    "spec": {"token": "t"},
    "status": {"authenticated": True, "user": {"username": "u", "groups": ["g"], "extra": {"k": ["v"]}}},
}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.authentication.v1:TokenReview")


def test_a_tokenreview_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_a_tokenreview_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_a_tokenreview_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])


class TestContract(ApiContract):
    plugin = AuthenticationApi
