"""What a server says of how it stores each resource."""

import pytest
from hyperkube_host.apiserver.controlplane.identity_lease import server_id
from hyperkube_host.apiserver.controlplane.storage_versions import stored_resources
from hyperkube_host.apiserver.custom.definitions import group_versions
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.storage_versions import STORAGE_VERSIONS
from hyperkube_lib.watch_cache.watch_cache import StoreCache

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.internal", reason="needs the API group of storage versions")
pytest.importorskip("hyperkube_api.apps", reason="looks at deployments")

OPTIONS = {
    "admission-control": ["AlwaysAdmit"],
    "authorization-mode": ["AlwaysAllow"],
    "advertise-address": "127.0.0.1",
    "runtime-config": {"internal.apiserver.k8s.io/v1alpha1": "true"},
}


@pytest.mark.parametrize("on", [True, False])
def test_a_server_writes_them_with_the_gate(on):
    options = Options.of({**OPTIONS, "feature-gates": {"StorageVersionAPI": on}}, is_announced=True)
    server = ApiServer(options=options, store=MemoryStore(), clock=SystemClock())
    server.start()
    try:
        eventually(server.ready)
        client = server.client(LOOPBACK)
        if not on:
            with pytest.raises(NotFound):
                client.list(STORAGE_VERSIONS)
            return
        found = {each["metadata"]["name"]: each["status"] for each in client.list(STORAGE_VERSIONS).items}
    finally:
        server.close()

    pods, deployments = found["core.pods"], found["apps.deployments"]
    assert pods["commonEncodingVersion"] == "v1"
    assert deployments["commonEncodingVersion"] == "apps/v1"
    (row,) = deployments["storageVersions"]
    assert row["apiServerID"].startswith("apiserver-")
    assert row["apiServerID"] != server_id("another")
    assert "apps/v1" in row["decodableVersions"]
    assert [each["reason"] for each in pods["conditions"]] == ["CommonEncodingVersionSet"]


def test_custom_resources_have_none():
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    registry = Registry(StoreCache(MemoryStore(), SystemClock()))
    registry.add(group_versions({"metadata": {"name": "widgets.example.com"}, "spec": spec}), custom=True)

    assert [each.spec.resource.resource for each in registry.resources()] == ["widgets"]
    assert stored_resources(registry) == []
