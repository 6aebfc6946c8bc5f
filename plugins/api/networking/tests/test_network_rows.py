"""The rows of networking in tables."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.networking.ingress_classes import ingress_class_cells
from hyperkube_api.networking.ingresses.table import ingress_cells
from hyperkube_api.networking.ip_addresses import ip_address_cells
from hyperkube_api.networking.network_policies.table import network_policy_cells
from hyperkube_api.networking.service_cidrs import service_cidr_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2016-01-01T12:00:00Z"}


def rules(*hosts):
    return [{"host": host} if host else {} for host in hosts]


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({}, ["<none>", "*", "", "80"]),
        ({"ingressClassName": "c", "rules": rules("x.com"), "tls": [{}]}, ["c", "x.com", "", "80, 443"]),
        ({"rules": rules("", "")}, ["<none>", "*", "", "80"]),
        ({"rules": rules("a", "", "b", "c")}, ["<none>", "a,b,c", "", "80"]),
        ({"rules": rules("a", "b", "c", "d", "e")}, ["<none>", "a,b,c + 2 more...", "", "80"]),
        ({"rules": rules("a", "b", "c", "")}, ["<none>", "a,b,c + 1 more...", "", "80"]),
    ],
    ids=["least", "rich", "any-host", "some-hosts", "many", "one-more"],
)
def test_an_ingress_row(spec, shown):
    assert ingress_cells({"metadata": META, "spec": spec}, NOW) == ["a", *shown, "10y"]


def test_an_ingress_row_shows_all_addresses():
    found = [{"ip": "2.3.4.5"}, {"hostname": "localhost.localdomain"}, {"ip": "2.3.4.4"}, {"ip": "2.3.4.5"}]
    obj = {"metadata": META, "status": {"loadBalancer": {"ingress": found}}}

    assert ingress_cells(obj, NOW)[3] == "2.3.4.4,2.3.4.5,localhost.localdomain"


@pytest.mark.parametrize(
    ("parameters", "shown"),
    [
        (None, "<none>"),
        ({"kind": "K", "name": "n"}, "K/n"),
        ({"apiGroup": "e.com", "kind": "K", "name": "n"}, "K.e.com/n"),
    ],
)
def test_an_ingress_class_row(parameters, shown):
    obj = {"metadata": META, "spec": {"controller": "e.com/c", "parameters": parameters}}

    assert ingress_class_cells(obj, NOW) == ["a", "e.com/c", shown, "10y"]


@pytest.mark.parametrize(
    ("selector", "shown"),
    [
        ({}, "<none>"),
        ({"matchLabels": {"foo": "bar"}}, "foo=bar"),
        (
            {"matchExpressions": [{"key": "foo", "operator": "NotIn", "values": ["y", "x"]}]},
            "foo notin (x,y)",
        ),
    ],
)
def test_a_network_policy_row(selector, shown):
    assert network_policy_cells({"metadata": META, "spec": {"podSelector": selector}}, NOW) == ["a", shown, "10y"]


@pytest.mark.parametrize(
    ("parent", "shown"),
    [
        (None, "<none>"),
        ({"resource": "services", "namespace": "n", "name": "s"}, "services/n/s"),
        ({"group": "Gateway.networking.k8s.io", "resource": "Gateways", "name": "g"},
         "gateways.gateway.networking.k8s.io/g"),
    ],
)  # fmt: skip
def test_an_address_row_shows_whose_it_is(parent, shown):
    assert ip_address_cells({"metadata": META, "spec": {"parentRef": parent}}, NOW) == ["a", shown]


@pytest.mark.parametrize(
    ("ranges", "shown"),
    [(None, ""), (["10.1.0.0/16"], "10.1.0.0/16"), (["10.1.0.0/16", "fd00::/64"], "10.1.0.0/16,fd00::/64")],
)
def test_a_service_range_row(ranges, shown):
    assert service_cidr_cells({"metadata": META, "spec": {"cidrs": ranges}}, NOW) == ["a", shown, "10y"]
