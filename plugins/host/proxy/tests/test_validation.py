"""What the proxy's options cannot be: each refusal in Kubernetes' words, before anything is made."""

import pytest
from hyperkube_host.proxy.command import COMMAND
from hyperkube_host.proxy.options import ProxyOptions

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

ROOT = "KubeProxyConfiguration."
LINUX = f"{ROOT}KubeProxyLinuxConfiguration."
CONNTRACK = f"{LINUX}KubeProxyConntrackConfiguration."
NOT_NEGATIVE = "must be greater than or equal to 0"


def options(**given):
    values = {"proxy-mode": "nftables", **{name.replace("_", "-"): value for name, value in given.items()}}
    return ProxyOptions.of(FlagValues.of(COMMAND.all_flags(), values))


def refusal(**given):
    with pytest.raises(UsageError) as refused:
        options(**given)
    return str(refused.value)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"healthz_port": 0, "metrics_port": 0, "healthz_bind_address": "", "metrics_bind_address": "[::]:9"},
        {"conntrack_max_per_core": 0, "conntrack_min": 0, "conntrack_tcp_timeout_established": "0s"},
        {"iptables_min_sync_period": "0s", "oom_score_adj": 1000},
        {"iptables_min_sync_period": "10s", "iptables_sync_period": "10s", "oom_score_adj": -1000},
        {"cluster_cidr": "10.1.0.0/16,fd00::/48"},
        {"cluster_cidr": "10.1.0.0/16,10.2.0.0/16", "detect_local_mode": "NodeCIDR"},
    ],
    ids=["defaults", "addresses", "no limits", "least", "equal periods", "two families", "ranges that are not read"],
)
def test_what_can_be_is_taken(given):
    options(**given)


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("conntrack-max-per-core", -1, f"{CONNTRACK}MaxPerCore: Invalid value: -1: {NOT_NEGATIVE}"),
        ("conntrack-min", -1, f"{CONNTRACK}Min: Invalid value: -1: {NOT_NEGATIVE}"),
        (
            "conntrack-tcp-timeout-established",
            "-1s",
            f'{CONNTRACK}TCPEstablishedTimeout: Invalid value: "-1s": {NOT_NEGATIVE}',
        ),
        (
            "conntrack-tcp-timeout-close-wait",
            "-1s",
            f'{CONNTRACK}TCPCloseWaitTimeout: Invalid value: "-1s": {NOT_NEGATIVE}',
        ),
        ("conntrack-udp-timeout", "-1s", f'{CONNTRACK}UDPTimeout: Invalid value: "-1s": {NOT_NEGATIVE}'),
        ("conntrack-udp-timeout-stream", "-1s", f'{CONNTRACK}UDPStreamTimeout: Invalid value: "-1s": {NOT_NEGATIVE}'),
        ("kube-api-burst", -1, f"{ROOT}ClientConnection.Burst: Invalid value: -1: {NOT_NEGATIVE}"),
        ("oom-score-adj", 1001, f"{LINUX}OOMScoreAdj: Invalid value: 1001: must be within the range [-1000, 1000]"),
        ("config-sync-period", "0s", f'{ROOT}ConfigSyncPeriod: Invalid value: "0s": must be greater than 0'),
        ("iptables-min-sync-period", "-1s", f'{ROOT}MinSyncPeriod: Invalid value: "-1s": {NOT_NEGATIVE}'),
        (
            "iptables-min-sync-period",
            "31s",
            f'{ROOT}SyncPeriod: Invalid value: "31s": must be greater than or equal to {ROOT}MinSyncPeriod',
        ),
        ("healthz-bind-address", "here:1", f'{ROOT}HealthzBindAddress: Invalid value: "here": must be a valid IP'),
        (
            "healthz-bind-address",
            "0.0.0.0:65536",
            f'{ROOT}HealthzBindAddress: Invalid value: "65536": must be a valid port',
        ),
        ("metrics-port", -1, f'{ROOT}MetricsBindAddress: Invalid value: "-1": must be a valid port'),
        (
            "cluster-cidr",
            "10.1.0.0/16,10.2.0.0/16",
            (
                f'{ROOT}DetectLocalConfiguration.ClusterCIDRs: Invalid value: ["10.1.0.0/16","10.2.0.0/16"]:'
                " must be a either a single CIDR or dual-stack pair of CIDRs (e.g. [10.100.0.0/16, fde4:8dba:82e1::/48]"
            ),
        ),
    ],
)
def test_a_value_that_cannot_be_is_refused(flag, value, message):
    assert refusal(**{flag: value}) == message


def test_all_problems_are_told_at_once():
    assert refusal(iptables_sync_period="0s") == (
        f'[{ROOT}SyncPeriod: Invalid value: "0s": must be greater than 0,'
        f' {ROOT}SyncPeriod: Invalid value: "1s": must be greater than or equal to {ROOT}MinSyncPeriod]'
    )
