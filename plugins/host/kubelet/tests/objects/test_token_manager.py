"""Service account tokens of pods."""

from datetime import timedelta

import pytest
from hyperkube_host.kubelet.objects.token_manager import TokenManager

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.times import format_time

POD = {"metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "spec": {"serviceAccountName": "sa"}}


class Api:
    """Issues tokens numbered from 1, with the life that was asked for."""

    def __init__(self, clock):
        self.clock = clock
        self.requests = []

    def create(self, resource, body, namespace, *, name, subresource):
        self.requests.append((resource.resource, namespace, name, subresource, body["spec"]["audiences"]))
        end = self.clock.now() + timedelta(seconds=body["spec"]["expirationSeconds"])
        return {"status": {"token": f"t{len(self.requests)}", "expirationTimestamp": format_time(end)}}


@pytest.fixture
def clock():
    return FakeClock()


def test_a_token_is_kept_until_four_fifths_of_its_life_are_over(clock):
    api = Api(clock)
    tokens = TokenManager(api, clock)
    found = [tokens.token(POD, "", 1000)["token"]]

    for seconds in (790, 20):
        clock.advance(seconds)
        found.append(tokens.token(POD, "", 1000)["token"])

    assert found == ["t1", "t1", "t2"]
    assert api.requests[0] == ("serviceaccounts", "ns", "sa", "token", [])


def test_each_audience_has_a_token_of_its_own(clock):
    tokens = TokenManager(Api(clock), clock)

    assert [tokens.token(POD, audience, 1000)["token"] for audience in ("a", "b", "a")] == ["t1", "t2", "t1"]


def test_the_tokens_of_a_removed_pod_are_dropped(clock):
    tokens = TokenManager(Api(clock), clock)
    tokens.token(POD, "", 1000)

    tokens.remove_pod("u")

    assert tokens.token(POD, "", 1000)["token"] == "t2"


def test_a_kubelet_that_stands_alone_has_no_tokens(clock):
    with pytest.raises(NotFound):
        TokenManager(None, clock).token(POD, "", 1000)
