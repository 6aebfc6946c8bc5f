"""A kubelet some of whose requests fail, or wait for their turn."""

from random import Random

import pytest
from hyperkube_host.kubelet.command import COMMAND, options_of
from hyperkube_host.kubelet.intercepted_clients import InterceptedClient, with_chaos, with_pace
from hyperkube_host.kubelet.kubelet import Kubelet

from hyperkube.client.client import Client
from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import CONFIG_MAPS, PODS
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues
from hyperkube.testing.waiting import eventually

OBJECT = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "c"}}


def verbs(client):
    """Return one call of each verb."""
    return [
        lambda: client.create(CONFIG_MAPS, OBJECT, "ns"),
        lambda: client.get(CONFIG_MAPS, "c", "ns"),
        lambda: client.list(CONFIG_MAPS, "ns").items,
        lambda: client.watch(CONFIG_MAPS, "ns").close(),
        lambda: client.update(CONFIG_MAPS, client.get(CONFIG_MAPS, "c", "ns"), "ns"),
        lambda: client.patch(CONFIG_MAPS, "c", {"data": {"a": "b"}}, "ns"),
        lambda: client.delete(CONFIG_MAPS, "c", "ns"),
        lambda: client.delete_collection(CONFIG_MAPS, "ns"),
    ]


def test_without_a_chance_the_client_is_left_alone():
    client = FakeClient(SystemClock())

    assert with_chaos(client, 0.0, Random(1)) is client


def test_every_verb_can_fail_and_then_changes_nothing():
    api = FakeClient(SystemClock())
    client: Client = with_chaos(api, 1.0, Random(1))

    for call in [*verbs(client), lambda: client.request("GET", "/healthz")]:
        with pytest.raises(ConnectionResetError, match="connection reset by peer"):
            call()
    assert api.objects(CONFIG_MAPS) == []


def test_what_does_not_fail_is_done():
    client = InterceptedClient(FakeClient(SystemClock()), lambda _verb: None)

    for call in verbs(client):
        call()


def test_the_share_that_fails_is_the_chance():
    client = with_chaos(FakeClient(SystemClock()), 0.3, Random(1))
    failed = 0
    for _ in range(1000):
        try:
            client.list(CONFIG_MAPS, "ns")
        except ConnectionResetError:
            failed += 1

    assert 250 < failed < 350


@pytest.mark.parametrize("chance", [-0.1, 1.1])
def test_what_is_no_probability_is_refused(chance):
    with pytest.raises(UsageError, match="is no probability: 0 to 1"):
        with_chaos(FakeClient(SystemClock()), chance, Random(1))


def test_pods_settle_although_requests_fail(tmp_path):
    pytest.importorskip("hyperkube_runtime.hollow", reason="simulates pods")
    api = FakeClient(SystemClock())
    values = {
        "hostname-override": "n1", "root-dir": str(tmp_path), "container-runtime": "hollow", "node-ip": "127.0.0.1",
    }  # fmt: skip
    options = options_of(FlagValues.of(COMMAND.all_flags(), values))
    kubelet = Kubelet(client=with_chaos(api, 0.3, Random(1)), options=options)
    kubelet.start()
    try:
        for name in ("a", "b", "c"):
            spec = {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]}
            api.create(PODS, {"metadata": {"name": name}, "spec": spec}, "default")

        eventually(lambda: {one.get("status", {}).get("phase") for one in api.objects(PODS)} == {"Running"})
    finally:
        kubelet.close()


class Slept:
    """A clock that stands still but for its sleepers, and counts how long they slept."""

    def __init__(self):
        self.slept = 0.0

    def monotonic(self):
        return self.slept

    def sleep(self, seconds):
        self.slept += seconds


def test_events_wait_for_their_turn_once_a_burst_is_through():
    clock = Slept()
    client = with_pace(FakeClient(SystemClock()), 2.0, 3, clock)

    slept = []
    for number in range(6):
        client.create(CONFIG_MAPS, {**OBJECT, "metadata": {"name": f"c{number}"}}, "ns")
        slept.append(clock.slept)

    assert slept == [0, 0, 0, 0.5, 1.0, 1.5]


def test_without_a_rate_events_do_not_wait():
    client = FakeClient(SystemClock())

    assert with_pace(client, 0.0, 3, Slept()) is client


@pytest.mark.parametrize(("qps", "burst", "flag"), [(-1.0, 1, "--event-qps -1"), (1.0, -2, "--event-burst -2")])
def test_a_negative_rate_is_refused(qps, burst, flag):
    with pytest.raises(UsageError, match=f"{flag} must not be a negative number"):
        with_pace(FakeClient(SystemClock()), qps, burst, Slept())
