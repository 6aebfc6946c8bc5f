"""Slices with Pods whose addresses are the machine's own are accepted, and stay so when a Pod has gone."""

from types import SimpleNamespace

import pytest
from hyperkube_api.discovery.strategy import EndpointSliceStrategy

from hyperkube.machinery.errors import NotFound


@pytest.fixture
def call():
    def get(resource, name, _namespace):
        if name != "web":
            raise NotFound.about(resource.group_resource, name)
        return {"status": {"podIP": "127.64.0.2"}}

    return SimpleNamespace(gates={}, namespace="ns", objects=SimpleNamespace(get=get))


def a_slice(*targets):
    endpoints = [
        {"addresses": [ip], "targetRef": {"kind": "Pod", "name": name, "namespace": "ns"}} for ip, name in targets
    ]
    return {"addressType": "IPv4", "endpoints": endpoints}


def test_the_address_of_the_pod_is_taken_and_no_other(call):
    strategy = EndpointSliceStrategy()

    assert strategy.validate(call, a_slice(("127.64.0.2", "web"))) == []
    assert strategy.validate(call, a_slice(("127.0.0.1", "web"))) != []


def test_the_address_of_a_pod_that_has_gone_may_stay(call):
    old = a_slice(("127.64.0.9", "gone"))

    both = a_slice(("127.64.0.9", "gone"), ("127.64.0.2", "web"))

    assert EndpointSliceStrategy().validate_update(call, both, old) == []
