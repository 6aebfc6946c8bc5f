"""Addons come into a cluster and stay as their mode says."""

import threading

import orjson
import pytest
from hyperkube_lib import addon_manager
from hyperkube_lib.addon_manager import AddonManager

from hyperkube.client.client import RawResponse
from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs import addon, hookimpl
from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import ApiError
from hyperkube.plugin import Plugin, PluginContext, PluginHost


class Settings(Plugin):
    """One ConfigMap, and a thread that waits to be ended."""

    mode = "EnsureExists"
    kind = "ConfigMap"

    def __init__(self, context):
        super().__init__(context)
        self.serving = threading.Event()
        self.ended = threading.Event()

    @hookimpl
    def addon_objects(self):
        metadata = {"name": "s", "namespace": "kube-system", "labels": {"addonmanager.kubernetes.io/mode": self.mode}}
        return [{"apiVersion": "v1", "kind": self.kind, "metadata": metadata, "data": {"a": "1"}}]

    @hookimpl
    def addon_start(self):
        self.serving.set()
        self.ended.wait()

    def close(self):
        self.ended.set()


class Applying(FakeClient):
    """Keeps what was applied; serves ConfigMaps."""

    def __init__(self, clock):
        super().__init__(clock)
        self.applied = []
        listed = {"name": "configmaps", "kind": "ConfigMap", "namespaced": True, "verbs": ["list"]}
        documents = {"/api": {"versions": ["v1"]}, "/api/v1": {"resources": [listed]}, "/apis": {"groups": []}}
        for path, document in documents.items():
            self.answer("GET", path, lambda _body, document=document: RawResponse(200, {}, orjson.dumps(document)))

    def patch(self, resource, name, patch, namespace="", **words):
        self.applied.append((resource.resource, namespace, name, words["field_manager"], words["force"]))
        return patch


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def plugin(monkeypatch):
    built = Settings(PluginContext(name="settings"))
    monkeypatch.setattr(addon_manager, "load", lambda *_: PluginHost("addon", addon, [("settings", built)]))
    return built


def test_an_object_that_must_only_exist_is_created_once(plugin, clock):
    client = Applying(clock)
    client.seed(CONFIG_MAPS, {"metadata": {"name": "s", "namespace": "kube-system"}, "data": {"a": "own"}})
    manager = AddonManager(["settings"], client, clock)

    manager.start()
    manager.close()

    assert client.objects(CONFIG_MAPS)[0]["data"] == {"a": "own"}
    assert client.applied == []


def test_other_objects_are_applied_again_after_a_minute(plugin, clock):
    plugin.mode = "Reconcile"
    client = Applying(clock)
    manager = AddonManager(["settings"], client, clock)
    manager.start()

    try:
        for _ in range(200):
            clock.advance(30)
            if len(client.applied) > 1:
                break
            SystemClock().sleep(0.01)
    finally:
        manager.close()

    assert len(client.applied) > 1
    assert set(client.applied) == {("configmaps", "kube-system", "s", "addon-manager", True)}


def test_what_an_addon_serves_ends_with_the_manager(plugin, clock):
    manager = AddonManager(["settings"], Applying(clock), clock)

    manager.start()
    assert plugin.serving.wait(60)
    manager.close()

    assert not any(thread.name == "addon-settings" for thread in threading.enumerate())


def test_an_unknown_kind_is_a_clear_error(plugin, clock):
    plugin.kind = "Gadget"
    manager = AddonManager(["settings"], Applying(clock), clock)

    with pytest.raises(ApiError, match="no matches for kind 'Gadget' in version 'v1'"):
        manager.start()
    manager.close()


def test_without_addons_nothing_is_asked(clock):
    manager = AddonManager([], FakeClient(clock), clock)

    manager.start()
    manager.close()
