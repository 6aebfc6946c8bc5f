"""The addon, from its start to its end."""

import subprocess
import threading

import pytest
from hyperkube_addon.network_policy import NetworkPolicies
from hyperkube_addon.network_policy import addon as module
from hyperkube_addon.network_policy.addon import NETWORK_POLICIES
from hyperkube_addon.network_policy.table import NAME

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import NAMESPACES, PODS
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.addon import AddonContract
from hyperkube.testing.waiting import eventually

POD = {
    "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}},
    "spec": {"nodeName": "here", "containers": [{"name": "main", "image": "web"}]},
    "status": {"podIP": "10.0.0.7"},
}
POLICY = {"metadata": {"name": "deny", "namespace": "default"}, "spec": {"podSelector": {}, "policyTypes": ["Ingress"]}}


def built(client, **settings):
    clock = SystemClock()
    informers = InformerFactory(client, clock)
    context = PluginContext(name="network-policy", client=client, clock=clock, informers=informers, settings=settings)
    return NetworkPolicies(context), informers


class TestContract(AddonContract):
    serves = True

    def build(self):
        return built(FakeClient())[0]


def test_the_rules_follow_the_policies(monkeypatch):
    applied, refusals = [], ["nft: busy"]
    monkeypatch.setattr(module, "apply", lambda text: (applied.append(text), refusals.pop() if refusals else "")[1])
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(module.shutil, "which", lambda _name: "nft")
    monkeypatch.setattr(NetworkPolicies, "_see_bridged_traffic", lambda _self: None)
    client = FakeClient()
    client.seed(NAMESPACES, {"metadata": {"name": "default"}})
    client.seed(PODS, POD)
    addon, informers = built(client, node_name="here")
    informers.start()
    thread = threading.Thread(target=addon.addon_start, daemon=True)
    thread.start()

    eventually(lambda: len(applied) == 2)
    assert applied[0] == applied[1], "what is refused is tried again"
    client.create(NETWORK_POLICIES, POLICY, "default")
    eventually(lambda: "10.0.0.7 : jump ingress-" in applied[-1])
    assert "delete table" not in applied[-1], "only what changed is sent"
    client.delete(NETWORK_POLICIES, "deny", "default")
    eventually(lambda: f"delete element {NAME} ingress4 {{ 10.0.0.7 }}" in applied[-1])
    client.create(PODS, {**POD, "metadata": {"name": "other", "namespace": "default"}}, "default")
    addon.close()
    thread.join(10)
    informers.stop()

    assert not thread.is_alive()
    assert applied[-1].endswith("delete table inet hyperkube-network-policy\n"), "nothing is left at the end"


def test_without_the_right_to_nftables_one_line_says_so(monkeypatch):
    told = "nft: /dev/stdin:1:1-40: Error: Could not process rule: Operation not permitted\nadd table inet x\n^^^^"
    monkeypatch.setattr(module, "apply", lambda _text: told)
    monkeypatch.setattr(module.shutil, "which", lambda _name: "nft")
    addon, _ = built(FakeClient())

    with pytest.raises(UsageError, match=r"which needs root: nft: .* Operation not permitted$"):
        addon.start()


def test_a_program_that_hangs_is_a_refusal(monkeypatch):
    def hang(words, **how):
        raise subprocess.TimeoutExpired(words, how["timeout"])

    monkeypatch.setattr(subprocess, "run", hang)

    assert module.apply("flush ruleset") == "nft: took longer than 60s"
