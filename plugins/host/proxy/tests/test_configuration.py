"""KubeProxyConfiguration and flags."""

import pytest
import yaml
from hyperkube_host.proxy.command import COMMAND
from hyperkube_host.proxy.configuration import configured, from_object, to_object, write_configuration
from hyperkube_host.proxy.options import ProxyOptions, check_mode
from hyperkube_host.proxy.sync_limit import SyncLimit

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

HEAD = {"apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration"}


def read(tmp_path, given=None, **fields):
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({**HEAD, **fields}))
    values = FlagValues.of(COMMAND.all_flags(), {"config": str(path), **(given or {})})
    return configured(COMMAND.all_flags(), values)


def test_the_file_counts_more_than_flags_but_not_than_the_nodes_name(tmp_path):
    values, _ = read(
        tmp_path, {"hostname-override": "flagged", "cluster-cidr": "10.9.0.0/16", "metrics-port": "9"},
        mode="userspace", hostnameOverride="filed", clusterCIDR="10.1.0.0/16,fd00::/48",
        conntrack={"maxPerCore": 0, "udpTimeout": "10s"}, nodePortAddresses=["primary"], bindAddress=None,
    )  # fmt: skip

    options = ProxyOptions.of(values)

    assert options.node_name == "flagged"
    assert list(values["cluster-cidr"]) == ["10.1.0.0/16", "fd00::/48"]
    assert (options.conntrack.max_per_core, options.conntrack.udp_seconds) == (0, 10.0)
    assert options.node_port_addresses == ("primary",)
    assert options.bind_address == "0.0.0.0"


def test_the_section_of_the_mode_is_the_proxiers():
    found, settings = from_object(
        {
            **HEAD,
            "mode": "nftables",
            "nftables": {"masqueradeBit": 7, "masqueradeAll": True, "syncPeriod": "10s"},
            "iptables": {"localhostNodePorts": False},
        }
    )

    assert settings == {"masquerade_bit": 7}
    assert found == {"proxy-mode": "nftables", "masquerade-all": True, "iptables-sync-period": "10s"}


@pytest.mark.parametrize(
    ("fields", "why"),
    [({"colour": "red"}, "unknown field 'colour'"), ({"kind": "Pod"}, "kind 'Pod'"), ({"mode": 3, "oomScoreAdj": "x"}, "x")],
)  # fmt: skip
def test_what_cannot_be_is_told_with_the_file(tmp_path, fields, why):
    with pytest.raises(UsageError, match=f"--config=.*{why}"):
        read(tmp_path, **fields)


def test_what_is_written_means_the_same(tmp_path):
    values = FlagValues.of(COMMAND.all_flags(), {"proxy-mode": "userspace", "cluster-cidr": "10.1.0.0/16"})
    path = tmp_path / "written.yaml"

    write_configuration(str(path), values)
    again, _ = configured(COMMAND.all_flags(), FlagValues.of(COMMAND.all_flags(), {"config": str(path)}))

    assert to_object(again) == to_object(values)


def test_a_node_without_ipvs_is_told_in_a_line():
    pytest.importorskip("hyperkube_proxier.userspace", reason="one of those that the line names")
    with pytest.raises(UsageError, match=r"--proxy-mode=ipvs: .*; use one of .*userspace"):
        check_mode("ipvs")


def test_two_syncs_may_follow_at_once_and_then_one_per_period():
    limit = SyncLimit(1.0)

    delays = []
    for _ in range(3):
        delays.append(limit.delay(100.0))
        limit.take(100.0)

    assert delays == [0.0, 0.0, 1.0]
    assert limit.delay(100.75) == pytest.approx(0.25)
    assert limit.delay(103.0) == 0.0


@pytest.mark.parametrize(
    ("mode", "given", "expected"),
    [("nftables", (), ("primary",)), ("nftables", ("10.0.0.0/8",), ("10.0.0.0/8",)), ("iptables", (), ())],
    ids=["nftables", "nftables, given", "iptables"],
)
def test_node_ports_of_nftables_are_on_the_nodes_own_address_unless_told_otherwise(mode, given, expected):
    values = FlagValues.of(COMMAND.all_flags(), {"proxy-mode": mode, "nodeport-addresses": ",".join(given)})

    options = ProxyOptions.of(values)

    assert options.node_port_addresses == expected
    assert tuple(to_object(options.values)["nodePortAddresses"]) == expected
