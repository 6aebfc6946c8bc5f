"""Endpoints of Pods whose addresses are the machine's own are accepted, and stay so when a Pod has gone."""

from types import SimpleNamespace

import pytest
from hyperkube_api.core.endpoints.strategy import EndpointsStrategy

from hyperkube.machinery.errors import NotFound


@pytest.fixture
def call():
    def get(resource, name, _namespace):
        if name != "web":
            raise NotFound.about(resource.group_resource, name)
        return {"status": {"podIP": "127.64.0.2"}}

    return SimpleNamespace(gates={}, namespace="ns", objects=SimpleNamespace(get=get))


def endpoints(*targets):
    addresses = [{"ip": ip, "targetRef": {"kind": "Pod", "name": name, "namespace": "ns"}} for ip, name in targets]
    return {"subsets": [{"addresses": addresses, "ports": [{"port": 80, "protocol": "TCP"}]}]}


def test_the_address_of_the_pod_is_taken_and_no_other(call):
    strategy = EndpointsStrategy()

    assert strategy.validate(call, endpoints(("127.64.0.2", "web"))) == []
    assert strategy.validate(call, endpoints(("127.0.0.1", "web"))) != []


def test_the_address_of_a_pod_that_has_gone_may_stay(call):
    old = endpoints(("127.64.0.9", "gone"))

    both = endpoints(("127.64.0.9", "gone"), ("127.64.0.2", "web"))

    assert EndpointsStrategy().validate_update(call, both, old) == []
