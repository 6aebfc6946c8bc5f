"""The types of the group authentication: one of them is decoded, and comes back from protobuf."""

from types import SimpleNamespace

import pytest
from hyperkube_api.authentication.resources import AuthenticationApi
from hyperkube_api.authentication.reviews import review_token
from hyperkube_lib.protobuf import Protobuf
from hyperkube_testing.api import ApiContract

from hyperkube.hookspecs.api_services import ApiServices
from hyperkube.hookspecs.authn import Authenticated
from hyperkube.machinery.errors import Unauthorized
from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema
from hyperkube.machinery.users import UserInfo

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


def status(found, **spec):
    def authenticate(credentials):
        if isinstance(found, Exception):
            raise found
        return found

    services = ApiServices(service_account_issuers=("https://issuer",), authenticate=authenticate)
    review = SimpleNamespace(body={"spec": {"token": "t", **spec}}, services=services)
    return review_token(review)["status"]


def test_a_token_that_says_nothing_of_audiences_is_good_for_the_servers_own():
    known = Authenticated(UserInfo("bob"))

    assert status(known) == {"authenticated": True, "user": {"username": "bob"}, "audiences": ["https://issuer"]}
    assert status(known, audiences=["a"]) == {"user": {}, "error": "invalid bearer token"}


def test_a_token_tells_for_which_audiences_it_is_good():
    assert status(Authenticated(UserInfo("bob"), ("a",)), audiences=["a", "b"])["audiences"] == ["a"]


def test_a_review_says_why_a_token_is_bad():
    assert status(None) == {"user": {}, "error": "invalid bearer token"}
    assert status(Unauthorized("it is old")) == {"user": {}, "error": "[invalid bearer token, it is old]"}
