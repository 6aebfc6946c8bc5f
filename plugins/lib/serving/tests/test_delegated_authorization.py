"""Whether a user may: what is asked, what counts as a yes, and for how long."""

import pytest
from hyperkube_lib.serving.delegated_authorization import AccessUnknown, DelegatedAuthorization

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.users import UserInfo

JANE = UserInfo("jane", "1", ("devs",), {"example.com/site": ("a",)})
NODE = {"verb": "get", "resource": "nodes", "subresource": "stats"}
PATH = {"verb": "get", "path": "/metrics"}


class Api:
    """Answers as a test sets, and notes what it was asked."""

    def __init__(self, status):
        self.status = status
        self.asked = []

    def create(self, _resource, review):
        self.asked.append(review["spec"])
        if isinstance(self.status, Exception):
            raise self.status
        return {"status": self.status}


@pytest.mark.parametrize(
    ("status", "allowed"),
    [
        ({"allowed": True}, True),
        ({"allowed": False}, False),
        ({}, False),
        (None, False),
        ({"allowed": True, "denied": True}, False),
    ],
)
def test_only_a_plain_yes_allows(status, allowed):
    assert DelegatedAuthorization(FakeClock(), Api(status)).allows(JANE, path=PATH) is allowed


def test_without_an_api_server_nothing_is_allowed():
    assert not DelegatedAuthorization(FakeClock(), None).allows(JANE, path=PATH)


def test_the_review_says_who_and_what():
    api = Api({"allowed": True})
    authorization = DelegatedAuthorization(FakeClock(), api)

    authorization.allows(JANE, path=PATH)
    authorization.allows(UserInfo("carl"), resource=NODE)

    jane = {"user": "jane", "uid": "1", "groups": ["devs"], "extra": {"example.com/site": ["a"]}}
    assert api.asked == [
        {**jane, "nonResourceAttributes": PATH},
        {"user": "carl", "uid": "", "groups": [], "resourceAttributes": NODE},
    ]


@pytest.mark.parametrize("error", [Forbidden("no"), ConnectionError("down"), TimeoutError("slow")], ids=repr)
def test_no_answer_is_neither_yes_nor_no_and_is_not_kept(error):
    api = Api(error)
    authorization = DelegatedAuthorization(FakeClock(), api)

    with pytest.raises(AccessUnknown):
        authorization.allows(JANE, path=PATH)

    api.status = {"allowed": True}
    assert authorization.allows(JANE, path=PATH)


def test_yes_and_no_are_kept_for_times_of_their_own():
    clock, api = FakeClock(), Api({"allowed": True})
    authorization = DelegatedAuthorization(clock, api, allowed_seconds=300, denied_seconds=30)
    authorization.allows(JANE, path=PATH)
    api.status = {"allowed": False}
    authorization.allows(JANE, resource=NODE)

    clock.advance(29)
    assert [authorization.allows(JANE, path=PATH), authorization.allows(JANE, resource=NODE)] == [True, False]
    assert len(api.asked) == 2
    clock.advance(2)
    api.status = {"allowed": True}
    assert authorization.allows(JANE, resource=NODE)
    clock.advance(300)
    api.status = {"allowed": False}
    assert not authorization.allows(JANE, path=PATH)


def test_an_answer_about_one_user_is_none_about_another():
    api = Api({"allowed": True})
    authorization = DelegatedAuthorization(FakeClock(), api)
    authorization.allows(JANE, path=PATH)

    for user in (
        UserInfo("jane", "2", JANE.groups, JANE.extra),
        UserInfo("jane", "1", ("devs", "ops"), JANE.extra),
        UserInfo("jane", "1", ("devs",), {"example.com/site": ("b",)}),
        UserInfo("other", "1", JANE.groups, JANE.extra),
    ):
        authorization.allows(user, path=PATH)

    assert len(api.asked) == 5
