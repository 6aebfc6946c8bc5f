"""Tokens of service accounts are requested, kept and renewed."""

from hyperkube_lib.controller_manager.service_account import ServiceAccountTokens

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import SERVICE_ACCOUNTS
from hyperkube.machinery.clock import FakeClock


def test_the_account_is_made_when_there_is_none_and_the_token_is_kept():
    clock = FakeClock()
    client = FakeClient(clock)
    tokens = ServiceAccountTokens(client, "kube-system", "job-controller", seconds=1000, clock=clock)

    assert tokens.token() == tokens.token() == "token-of-kube-system-job-controller"

    assert [obj["metadata"]["name"] for obj in client.objects(SERVICE_ACCOUNTS)] == ["job-controller"]
    requests = [action for action in client.actions if action[2].endswith("/token")]
    assert len(requests) == 2  # one before there was an account


def test_a_token_is_renewed_before_it_ends():
    clock = FakeClock()
    client = FakeClient(clock)
    tokens = ServiceAccountTokens(client, "kube-system", "job-controller", seconds=1000, clock=clock)
    tokens.token()
    asked = len(client.actions)

    clock.advance(801)
    tokens.token()

    assert len(client.actions) == asked + 1
