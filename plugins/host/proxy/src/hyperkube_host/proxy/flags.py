"""Options of the proxy: Kubernetes 1.36's, and those of the 1.0-1.15 line."""

from hyperkube_lib.component_base.flags import FLAGS as COMPONENT_BASE

from hyperkube.command.common_flags import API_CLIENT, GLOBAL
from hyperkube.plugin.flags import (
    ADDRESS,
    BOOL,
    CIDRS,
    DURATION,
    INT,
    LIST,
    STRING,
    Flag,
    section,
    unbuilt,
)

NAME = "kube-proxy"
FAMILIES = ("proxier",)
"""Whose plugins the server loads, and whose flags it has."""

FLAGS = (
    *section(
        "Proxying",
        Flag("proxy-mode", STRING, "", "proxier plugin: how services are made reachable; the bundle's unless given"),
        Flag("hostname-override", STRING, "", "name of this node; the host's name unless given"),
        Flag("bind-address", ADDRESS, "0.0.0.0", "address the proxy serves on"),
        Flag("nodeport-addresses", LIST, "", "addresses (or ranges) that node ports are opened on"),
        Flag("cluster-cidr", CIDRS, "", "pod addresses of the cluster", accepted=True),
        Flag("cleanup", BOOL, False, "remove all traces from the node and exit", aliases=("cleanup-iptables",)),
        *unbuilt(
            Flag("config", STRING, "", "KubeProxyConfiguration file"),
            Flag("write-config-to", STRING, "", "write the configuration to a file and exit"),
            Flag("config-sync-period", DURATION, "15m0s", "how often everything is read again"),
            Flag("conntrack-max-per-core", INT, 32768, "tracked connections per core"),
            Flag("detect-local-mode", STRING, "ClusterCIDR", "how local traffic is recognised"),
            Flag("iptables-masquerade-bit", INT, 14, "mark bit for masquerading"),
            Flag("iptables-min-sync-period", DURATION, "1s", "least time between rule refreshes"),
            Flag("iptables-sync-period", DURATION, "30s", "rule refresh"),
            Flag("ipvs-scheduler", STRING, "", "IPVS scheduler"),
            Flag("masquerade-all", BOOL, False, "masquerade all traffic"),
            Flag("oom-score-adj", INT, -999, "this process's OOM score"),
            Flag("resource-container", STRING, "/kube-proxy", "cgroup to run in"),
        ),
    ),
    *section(
        "Health and metrics",
        Flag("healthz-bind-address", STRING, "0.0.0.0:10256", "address (and port) of the health endpoint"),
        Flag("healthz-port", INT, 10256, "port of the health endpoint; 0 for none"),
        Flag("metrics-bind-address", STRING, "127.0.0.1:10249", "address (and port) of metrics"),
        Flag("metrics-port", INT, 10249, "port of metrics; 0 for none"),
    ),
    *API_CLIENT,
    *section("Debugging", Flag("profiling", BOOL, False, "serve profiles under /debug/pprof/")),
    *COMPONENT_BASE,
    *GLOBAL,
)
