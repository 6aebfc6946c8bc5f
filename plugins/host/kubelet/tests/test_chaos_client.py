"""A kubelet some of whose requests fail."""

from random import Random

import pytest
from hyperkube_host.kubelet.chaos_client import ChaosClient, with_chaos
from hyperkube_host.kubelet.command import COMMAND, options_of
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
    client = ChaosClient(FakeClient(SystemClock()), 0.0, Random(1))

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
