"""The table of services."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.core.services.table import service_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}
BALANCED = {"loadBalancer": {"ingress": [{"ip": "2.2.2.2"}, {"hostname": "b.example.com"}, {"ip": "1.1.1.1"}]}}


@pytest.mark.parametrize(
    ("spec", "status", "shown"),
    [
        ({"type": "ClusterIP"}, {}, "<none>"),
        ({"type": "ClusterIP", "externalIPs": ["9.9.9.9", "8.8.8.8"]}, BALANCED, "9.9.9.9,8.8.8.8"),
        ({"type": "NodePort"}, {}, "<none>"),
        ({"type": "NodePort", "externalIPs": ["9.9.9.9"]}, {}, "9.9.9.9"),
        ({"type": "LoadBalancer"}, {}, "<pending>"),
        ({"type": "LoadBalancer"}, BALANCED, "1.1.1.1,2.2.2.2,b.example.com"),
        ({"type": "LoadBalancer", "externalIPs": ["9.9.9.9"]}, {}, "9.9.9.9"),
        ({"type": "LoadBalancer", "externalIPs": ["9.9.9.9"]}, BALANCED, "1.1.1.1,2.2.2.2,b.example.com,9.9.9.9"),
        ({"type": "ExternalName", "externalName": "x.example.com"}, {}, "x.example.com"),
        ({}, {}, "<unknown>"),
    ],
)
def test_a_service_row_shows_how_it_is_reached_from_outside(spec, status, shown):
    assert service_cells({"metadata": META, "spec": spec, "status": status}, NOW)[3] == shown


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({"type": "ExternalName"}, ["ExternalName", "<none>", "<none>", "<none>"]),
        (
            {
                "type": "NodePort",
                "clusterIPs": ["10.0.0.1", "fd00::1"],
                "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30080}, {"port": 53, "protocol": "UDP"}],
                "selector": {"b": "2", "a": "1"},
            },
            ["NodePort", "10.0.0.1", "80:30080/TCP,53/UDP", "a=1,b=2"],
        ),
    ],
    ids=["least", "rich"],
)
def test_a_service_row_shows_addresses_ports_and_selector(spec, shown):
    row = service_cells({"metadata": META, "spec": spec}, NOW)

    assert [row[1], row[2], row[4], row[6]] == shown
