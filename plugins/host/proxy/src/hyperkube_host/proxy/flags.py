"""Options of the proxy: Kubernetes 1.36's, and those of the 1.0-1.15 line."""

from hyperkube_lib.component_base.flags import FLAGS as COMPONENT_BASE

from hyperkube.command.common_flags import API_CLIENT, GLOBAL
from hyperkube.plugin.flags import (
    ADDRESS,
    BOOL,
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

_NO_IPVS = "no effect: there is no ipvs proxier"
_OF_IPVS = (
    ("exclude-cidrs", LIST, ""), ("min-sync-period", DURATION, "1s"), ("scheduler", STRING, ""),
    ("strict-arp", BOOL, False), ("sync-period", DURATION, "30s"), ("tcp-timeout", DURATION, "0s"),
    ("tcpfin-timeout", DURATION, "0s"), ("udp-timeout", DURATION, "0s"),
)  # fmt: skip

FLAGS = (
    *section(
        "Proxying",
        Flag("proxy-mode", STRING, "", "proxier plugin: how services are made reachable; the bundle's unless given"),
        Flag("legacy-userspace-proxy", BOOL, True, "false: iptables, unless --proxy-mode names another"),
        Flag("hostname-override", STRING, "", "name of this node; the host's name unless given"),
        Flag("bind-address", ADDRESS, "0.0.0.0", "the node's address, which node ports of `primary` are open on"),
        Flag("nodeport-addresses", LIST, "", "ranges of the addresses that node ports are open on; or `primary`"),
        Flag("cluster-cidr", LIST, "", "pod addresses of the cluster, which are local unless told otherwise"),
        Flag("detect-local-mode", STRING, "ClusterCIDR",
             "how local traffic is told: ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix"),
        Flag("pod-bridge-interface", STRING, "", "bridge of the node's pods, for BridgeInterface"),
        Flag("pod-interface-name-prefix", STRING, "",
             "what the names of pods' interfaces begin with, for InterfaceNamePrefix"),
        Flag("masquerade-all", BOOL, False, "masquerade all traffic to cluster IPs"),
        Flag("iptables-min-sync-period", DURATION, "1s", "least time between syncs of the rules, of any proxier's"),
        Flag("iptables-sync-period", DURATION, "30s", "how often is looked whether the rules are still there"),
        Flag("config-sync-period", DURATION, "15m0s", "no effect: what is watched is not read again"),
        Flag("cleanup", BOOL, False, "remove all traces from the node and exit", aliases=("cleanup-iptables",)),
        Flag("init-only", BOOL, False, "set up what needs root, and exit"),
        Flag("config", STRING, "", "KubeProxyConfiguration file; it counts more than flags"),
        Flag("write-config-to", STRING, "", "write the configuration to a file and exit"),
        Flag("oom-score-adj", INT, -999, "this process's OOM score"),
        Flag("resource-container", STRING, "/kube-proxy", "no effect: the service manager chooses the cgroup",
             accepted=True),
    ),
    *unbuilt(*section("IPVS", *(Flag(f"ipvs-{name}", kind, default, _NO_IPVS) for name, kind, default in _OF_IPVS))),
    *section(
        "Connection tracking",
        Flag("conntrack-max-per-core", INT, 32768, "tracked connections per core; 0 for the kernel's limit"),
        Flag("conntrack-min", INT, 131072, "tracked connections at least, whatever the cores"),
        Flag("conntrack-tcp-timeout-established", DURATION, "24h0m0s", "until an idle connection is forgotten"),
        Flag("conntrack-tcp-timeout-close-wait", DURATION, "1h0m0s", "until one in CLOSE_WAIT is forgotten"),
        Flag("conntrack-tcp-be-liberal", BOOL, False, "track packets outside the window too"),
        Flag("conntrack-udp-timeout", DURATION, "0s", "until a UDP connection without answer is forgotten"),
        Flag("conntrack-udp-timeout-stream", DURATION, "0s", "until an idle UDP connection is forgotten"),
    ),
    *section(
        "Health and metrics",
        Flag("healthz-bind-address", STRING, "0.0.0.0:10256", "address (and port) of the health endpoint"),
        Flag("healthz-port", INT, 10256, "port of the health endpoint; 0 for none"),
        Flag("metrics-bind-address", STRING, "127.0.0.1:10249", "address (and port) of metrics"),
        Flag("metrics-port", INT, 10249, "port of metrics; 0 for none"),
        Flag("bind-address-hard-fail", BOOL, False, "end when health or metrics cannot be served, not try again"),
    ),
    *API_CLIENT,
    *section(
        "Debugging",
        Flag("profiling", BOOL, False, "serve profiles under /debug/pprof/"),
        Flag("show-hidden-metrics-for-version", STRING, "", "no effect: no metric is hidden", accepted=True),
    ),
    *COMPONENT_BASE,
    *GLOBAL,
)  # fmt: skip
