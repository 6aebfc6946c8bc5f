"""Removed versions of what the cluster keeps for itself: their promises."""

from hyperkube_api.legacy_cluster.coordination import LegacyCoordinationApi
from hyperkube_api.legacy_cluster.discovery import LegacyDiscoveryApi
from hyperkube_api.legacy_cluster.scheduling import LegacySchedulingApi
from hyperkube_api.legacy_cluster.storage import LegacyStorageApi
from hyperkube_testing.legacy_api import LegacyApiContract, spec_named

PLUGINS = (LegacyCoordinationApi, LegacyDiscoveryApi, LegacySchedulingApi, LegacyStorageApi)


def spec_of(name):
    return spec_named(name, *PLUGINS)


def test_where_an_endpoint_is_was_one_map():
    spec = spec_of("endpointslices.v1beta1.discovery.k8s.io")
    topology = {"topology.kubernetes.io/zone": "z", "kubernetes.io/hostname": "n", "rack": "r"}

    stored = spec.to_storage({"endpoints": [{"addresses": ["10.0.0.1"], "topology": topology}]})

    assert stored["endpoints"] == [
        {"addresses": ["10.0.0.1"], "zone": "z", "nodeName": "n", "deprecatedTopology": {"rack": "r"}}
    ]
    assert spec.from_storage(stored)["endpoints"][0]["topology"] == topology


class TestLegacyCoordinationApi(LegacyApiContract):
    plugin = LegacyCoordinationApi
    module = "hyperkube_api.coordination.v1"


class TestLegacyDiscoveryApi(LegacyApiContract):
    plugin = LegacyDiscoveryApi
    module = "hyperkube_api.discovery.v1"
    tidied = frozenset({"EndpointSlice"})


class TestLegacySchedulingApi(LegacyApiContract):
    plugin = LegacySchedulingApi
    module = "hyperkube_api.scheduling.v1"


class TestLegacyStorageApi(LegacyApiContract):
    plugin = LegacyStorageApi
    module = "hyperkube_api.storage.v1"
