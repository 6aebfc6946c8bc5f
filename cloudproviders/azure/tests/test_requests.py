"""What Azure is asked for each shape of Service: a table, beside which Kubernetes' provider can be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hyperkube_testing.beside import module_beside
from hyperkube_testing.rest_cloud import common_shapes, conversation, read_table, shape

microsoft = module_beside(__file__, "microsoft")

TABLE = Path(__file__).with_name("requests.txt")
BY_ADDRESS = {"loadBalancerBackendPoolConfigurationType": "nodeIP"}
SEVERAL = {
    **BY_ADDRESS,
    "multipleStandardLoadBalancerConfigurations": [
        {"name": "contract", "primaryVMSet": "pool"},
        {"name": "second", "primaryVMSet": "other"},
    ],
}
CONFIG = {"pool-of-addresses": BY_ADDRESS, "several": SEVERAL, "several-local": SEVERAL, "several-of-none": SEVERAL}
"""Shapes that another configuration is for."""
PREFIX = "service.beta.kubernetes.io/azure-"


def asked(name, *ports, words=None, **annotations):
    """Return a Service with Azure's annotations."""
    told = {PREFIX + key.replace("_", "-"): value for key, value in annotations.items()}
    return shape(name, *ports, annotations={**told, **(words or {})})


def with_spec(made, **spec):
    made["spec"] |= spec
    return made


def shapes():
    """Return the Services: those that any cloud meets, and those with words that Azure's provider reads."""
    inner = {"load_balancer_internal": "true"}
    local = {"externalTrafficPolicy": "Local", "healthCheckNodePort": 31234}
    own = [
        asked("internal", **inner),
        with_spec(asked("internal-address", **inner), loadBalancerIP="10.240.1.77"),
        asked("internal-subnet", load_balancer_internal_subnet="dmz", **inner),
        asked("internal-all-ports", load_balancer_enable_high_availability_ports="true", **inner),
        asked("internal-sctp", (132, "SCTP"), **inner),
        with_spec(asked("internal-local", **inner), **local),
        asked("idle", load_balancer_tcp_idle_timeout="20"),
        asked("idle-too-long", load_balancer_tcp_idle_timeout="31"),
        asked("named-address", pip_name="mine"),
        asked("named-address-of-none", pip_name="none"),
        asked("prefix", pip_prefix_id="/subscriptions/sub/p/Microsoft.Network/publicIPPrefixes/pre"),
        asked("dns", dns_label_name="shop"),
        asked("tags", pip_tags="team=shop,cost=7", pip_ip_tags="RoutingPreference=Internet"),
        asked("service-tags", allowed_service_tags="AzureCloud,AzureMonitor"),
        with_spec(
            asked("deny", deny_all_except_load_balancer_source_ranges="true"), loadBalancerSourceRanges=["192.0.2.0/24"]
        ),
        asked("shared-rule", shared_securityrule="true"),
        asked("no-floating", disable_load_balancer_floating_ip="true"),
        asked(
            "http-probe", load_balancer_health_probe_protocol="http", load_balancer_health_probe_request_path="/live"
        ),
        asked("slow-probe", load_balancer_health_probe_interval="60", load_balancer_health_probe_num_of_probe="2"),
        asked("port-probe", words={"service.beta.kubernetes.io/port_80_health-probe_interval": "10"}),
        asked("more-addresses", additional_public_ips="20.9.9.9"),
        with_spec(asked("users-address"), loadBalancerIP="20.0.0.99"),
        asked("private-link", pls_create="true", **inner),
        asked(
            "private-link-of-many",
            pls_create="true",
            pls_name="shop",
            pls_ip_configuration_subnet="links",
            pls_fqdns="a.example b",
            pls_ip_configuration_ip_address_count="2",
            pls_ip_configuration_ip_address="10.241.0.7",
            pls_proxy_protocol="true",
            pls_visibility="*",
            pls_auto_approval="s1",
            disable_load_balancer_floating_ip="true",
        ),
        asked("private-link-of-none", pls_create="true"),
        asked("pool-of-addresses"),
        asked("several", load_balancer_configurations="second"),
        with_spec(asked("several-local", load_balancer_configurations="second"), **local),
        asked("several-of-none", load_balancer_configurations="third"),
    ]
    return {**common_shapes(), **{each["metadata"]["name"]: each for each in own}}


def told(wanted, folder):
    """Return what the provider asks for one Service, in a cluster of a machine alone and one of a scale set."""
    double = microsoft.Microsoft()
    address = {"ipAddress": "20.0.0.99", "publicIPAllocationMethod": "Static"}
    double.put(f"{microsoft.NETWORK}/publicIPAddresses/mine", {"location": "westeurope", "properties": address})
    nodes = [double.machine("node-1"), double.instance()]
    for number, node in enumerate(nodes, 5):
        node["status"] = {"addresses": [{"type": "InternalIP", "address": f"10.240.0.{number}"}]}
    config = CONFIG.get(wanted["metadata"]["name"], {})
    balancers = microsoft.provider(microsoft.built(double, folder, **config)).load_balancers
    text = conversation(double, balancers, wanted, nodes)
    for long, short in (
        (microsoft.NETWORK, "@network"),
        (microsoft.COMPUTE, "@compute"),
        (microsoft.COMPUTE.lower(), "@compute"),
    ):
        text = text.replace(long, short)
    return text


@pytest.mark.parametrize("name", shapes())
def test_it_asks_what_the_table_says(name, tmp_path):
    assert told(shapes()[name], tmp_path) == read_table(TABLE.read_text())[name]


def test_the_table_has_every_shape():
    assert list(read_table(TABLE.read_text())) == list(shapes())
    assert len(shapes()) >= 30
