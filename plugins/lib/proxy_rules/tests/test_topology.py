"""Which endpoints the traffic of a node goes to."""

import pytest
from hyperkube_lib.proxy_rules.topology import categorize_endpoints

from hyperkube.hookspecs.proxier import Endpoint, ProxyNode, ServicePort, ServicePortName

NODE = ProxyNode(name="here", zone="a")
HERE, THERE = Endpoint("10.0.0.1", 80, local=True), Endpoint("10.0.0.2", 80)


def port(*endpoints, **fields):
    name = ServicePortName("default", "web", "http")
    return ServicePort(name=name, protocol="TCP", cluster_ip="10.96.0.1", port=80, endpoints=endpoints, **fields)


def leaving(endpoint):
    return endpoint._replace(ready=False, terminating=True)


@pytest.mark.parametrize(
    ("fields", "cluster", "local", "reachable"),
    [
        pytest.param({}, (HERE, THERE), (), (HERE, THERE), id="cluster"),
        pytest.param({"internal_local": True}, (), (HERE,), (HERE,), id="internal-local"),
        pytest.param(
            {"internal_local": True, "node_port": 30080}, (HERE, THERE), (HERE,), (HERE, THERE), id="internal-local-only",
        ),
        pytest.param(
            {"external_local": True, "node_port": 30080}, (HERE, THERE), (HERE,), (HERE, THERE), id="external-local",
        ),
        pytest.param({"external_local": True}, (HERE, THERE), (), (HERE, THERE), id="nothing-external"),
    ],
)  # fmt: skip
def test_policies_choose_endpoints(fields, cluster, local, reachable):
    assert categorize_endpoints(port(HERE, THERE, **fields), NODE) == (cluster, local, reachable, True)


def test_those_that_terminate_serve_when_no_other_is_left():
    gone = Endpoint("10.0.0.3", 80, ready=False, serving=False, terminating=True)

    assert categorize_endpoints(port(leaving(HERE), THERE, gone), NODE).cluster == (THERE,)
    assert categorize_endpoints(port(leaving(HERE), leaving(THERE), gone), NODE).cluster == (
        leaving(HERE),
        leaving(THERE),
    )
    assert not categorize_endpoints(port(gone), NODE).any_endpoints


def test_each_policy_falls_back_by_itself():
    found = categorize_endpoints(port(leaving(HERE), THERE, external_local=True, node_port=30080), NODE)

    assert found == ((THERE,), (leaving(HERE),), (THERE, leaving(HERE)), True)


def test_endpoints_elsewhere_count_as_any():
    assert categorize_endpoints(port(THERE, internal_local=True), NODE) == ((), (), (), True)


def hinted(endpoint, zones=(), nodes=()):
    return endpoint._replace(zone_hints=zones, node_hints=nodes)


@pytest.mark.parametrize(
    ("endpoints", "chosen"),
    [
        pytest.param([hinted(HERE, ("a",)), hinted(THERE, ("b",))], [HERE.ip], id="zone"),
        pytest.param([hinted(HERE, ("b",)), hinted(THERE, ("c",))], [HERE.ip, THERE.ip], id="none-for-our-zone"),
        pytest.param([hinted(HERE, ("a",)), THERE], [HERE.ip, THERE.ip], id="one-without-a-hint"),
        pytest.param(
            [hinted(HERE, ("a",), ("other",)), hinted(THERE, ("a",), ("here",))], [THERE.ip], id="node-before-zone",
        ),
        pytest.param(
            [hinted(HERE, ("a",)), hinted(THERE, ("b",), ("here",))], [HERE.ip], id="a-node-hint-missing",
        ),
        pytest.param([hinted(HERE, ("a",)), leaving(THERE)], [HERE.ip], id="only-ready-ones-need-hints"),
    ],
)  # fmt: skip
def test_hints_narrow_the_cluster_policy(endpoints, chosen):
    assert [each.ip for each in categorize_endpoints(port(*endpoints), NODE).cluster] == chosen


def test_a_policy_has_endpoints_where_its_traffic_reaches_one():
    elsewhere = categorize_endpoints(port(THERE, external_local=True, node_port=30080), NODE)

    assert elsewhere.has_endpoints(local_only=False)
    assert not elsewhere.has_endpoints(local_only=True)
    assert not categorize_endpoints(port(), NODE).has_endpoints(local_only=False)
