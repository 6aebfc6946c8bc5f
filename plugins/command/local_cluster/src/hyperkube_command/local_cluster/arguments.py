"""From the options of `up` to each server's command line, the same for one process and for five."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hyperkube_command.local_cluster.unattended import unattended
from hyperkube_lib.controller_manager.controller_descriptors import chosen, descriptors
from hyperkube_lib.local_cluster.layout import Layout

from hyperkube.machinery.record import Record
from hyperkube.plugin.loader import installed

ANYWHERE = {"0.0.0.0", "::", ""}
EVICTION_HARD = "memory.available<100Mi,nodefs.available<1Gi,nodefs.inodesFree<1%"
"""A developer's disk is often fuller than a node's may be by default."""
CONTAINER_SERVICES = "10.0.0.0/24"
"""Addresses of services for containers: loopback, the default elsewhere, is each network namespace's own."""
CONTAINER_PODS = "10.244.0.0/24"
DNS_ADDON = "dns"
CSI_ADDON = "csi-host-path"
CLUSTER_DOMAIN = "cluster.local"
_DNS_INDEX = 10
"""The cluster's DNS server has the tenth address of the range of services, as every installer gives it."""
RECYCLER_POD = Path(__file__).with_name("recycler_pod.json")
"""The pod that empties volumes where pods are processes: its image is this machine. It finds the volume below
``$HYPERKUBE_ROOT``, where volumes lie without a private view of the file system, too."""
LOOPBACK_GATE = "AllowLoopbackEndpoints=true"


class ClusterOptions(Record):
    """The options of `hyperkube up`.

    Attributes:
        simulated_nodes: simulated nodes beside the real one.
        hollow_only: there is no real node.
        unprivileged_port_offset: what is added to service ports below 1024; 0 where they may be bound.
        addons: what the cluster has beyond its servers, in order.
        addon_settings: family and name → settings.
        extra: server word → further flags, as typed.
        api_host: the host in the address that clients on this machine use; without it the address it listens on.
        watched: the folder whose plugins are loaded anew when they change; None: none are.
    """

    layout: Layout
    node_name: str
    bind_address: str = "127.0.0.1"
    api_host: str = ""
    authorization_mode: str = "Node,RBAC"
    secure_port: int = 6443
    kubelet_port: int = 10250
    token_auth_file: str = ""
    runtime: str = "process"
    simulated_nodes: int = 0
    hollow_only: bool = False
    service_range: str = "10.0.0.0/24"
    kubernetes_service_port: int = 443
    unprivileged_port_offset: int = 0
    node_port_range: str = "30000-32767"
    verbosity: int = 0
    addons: tuple[str, ...] = ()
    addon_settings: Mapping[tuple[str, str], Mapping[str, Any]] = MappingProxyType({})
    extra: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    watched: Path | None = None

    @property
    def has_containers(self) -> bool:
        """Whether pods have network namespaces of their own, and so reach this machine at its own address only."""
        return not self.hollow_only and self.runtime not in {"process", "hollow"}

    @property
    def first_node(self) -> str:
        """The name of the node for whose readiness a start waits."""
        return simulated_node_name(0) if self.hollow_only else self.node_name

    @property
    def server(self) -> str:
        """The address that clients on this machine use."""
        host = self.api_host or ("127.0.0.1" if self.bind_address in ANYWHERE else self.bind_address)
        return f"https://[{host}]:{self.secure_port}" if ":" in host else f"https://{host}:{self.secure_port}"


def simulated_node_name(index: int) -> str:
    """Return the name of a simulated node, counted from 0."""
    return f"hollow-{index}"


def arguments(cluster: ClusterOptions) -> dict[str, list[str]]:
    """Return server word → command line; the kubelet's is the real node's."""
    layout, pki = cluster.layout, cluster.layout.pki
    common = [f"--v={cluster.verbosity}"]
    built = {
        "apiserver": [
            "--storage-backend=sqlite",
            f"--data-dir={layout.store}",
            f"--bind-address={cluster.bind_address}",
            f"--advertise-address={cluster.bind_address if cluster.bind_address not in ANYWHERE else '127.0.0.1'}",
            f"--secure-port={cluster.secure_port}",
            f"--cert-dir={pki}",
            f"--tls-cert-file={pki / 'serving-kube-apiserver.crt'}",
            f"--tls-private-key-file={pki / 'serving-kube-apiserver.key'}",
            f"--client-ca-file={pki / 'client-ca.crt'}",
            f"--requestheader-client-ca-file={pki / 'request-header-ca.crt'}",
            "--requestheader-allowed-names=system:auth-proxy",
            f"--proxy-client-cert-file={pki / 'auth-proxy.crt'}",
            f"--proxy-client-key-file={pki / 'auth-proxy.key'}",
            f"--service-account-signing-key-file={pki / 'service-account.key'}",
            f"--service-account-key-file={pki / 'service-account.key'}",
            f"--authorization-mode={cluster.authorization_mode}",
            "--allow-privileged",
            "--explain-admission",
            f"--service-cluster-ip-range={cluster.service_range}",
            f"--service-node-port-range={cluster.node_port_range}",
            f"--kubernetes-service-port={cluster.kubernetes_service_port}",
            f"--kubelet-client-certificate={pki / 'kube-apiserver.crt'}",
            f"--kubelet-client-key={pki / 'kube-apiserver.key'}",
            "--kubelet-preferred-address-types=InternalIP,Hostname",
            f"--kubelet-certificate-authority={pki / 'server-ca.crt'}",
            f"--unattended-resources={','.join(_unattended(cluster))}",
            f"--feature-gates={LOOPBACK_GATE}",
            *([f"--token-auth-file={cluster.token_auth_file}"] if cluster.token_auth_file else []),
        ],
        "controller-manager": [
            f"--root-ca-file={pki / 'server-ca.crt'}",
            f"--service-account-private-key-file={pki / 'service-account.key'}",
            f"--local-path-dir={layout.root / 'volumes'}",
            *_recycling(cluster),
            *_csi_arguments(cluster),
            *_signing(cluster),
            "--use-service-account-credentials",
            "--leader-elect=false",
            "--secure-port=0",
            f"--kubeconfig={layout.kubeconfig('kube-controller-manager')}",
        ],
        "scheduler": [
            "--leader-elect=false",
            "--secure-port=0",
            f"--kubeconfig={layout.kubeconfig('kube-scheduler')}",
            f"--explanations-file={layout.root / 'scheduler' / 'explanations'}",
        ],
        "kubelet": kubelet_arguments(cluster),
        "proxy": _proxy_arguments(cluster),
    }
    if not any(flag.startswith("--admission-control") for flag in cluster.extra.get("apiserver", ())):
        built["apiserver"].append(f"--enable-admission-plugins={','.join(_admission_plugins(cluster))}")
    return {word: [*flags, *common, *cluster.extra.get(word, ())] for word, flags in built.items()}


def _admission_plugins(cluster: ClusterOptions) -> list[str]:
    # The process runtime is the one whose images a simulated node can stand in for.
    is_mixed = cluster.simulated_nodes > 0 and not cluster.hollow_only and cluster.runtime == "process"
    return ["NodeRestriction", "SimulatedNodes"] if is_mixed else ["NodeRestriction"]


def _proxy_arguments(cluster: ClusterOptions) -> list[str]:
    return [
        f"--hostname-override={cluster.node_name}",
        "--healthz-port=0",
        "--metrics-port=0",
        # Node ports are open to those to whom the API server is.
        *([] if cluster.bind_address in ANYWHERE else [f"--nodeport-addresses={cluster.bind_address}"]),
        f"--kubeconfig={cluster.layout.kubeconfig('kube-proxy')}",
    ]


def _recycling(cluster: ClusterOptions) -> list[str]:
    """Return which pod empties volumes: the default one's image cannot run as a process."""
    if cluster.hollow_only or cluster.runtime != "process":
        return []
    return [f"--pv-recycler-pod-template-filepath-{source}={RECYCLER_POD}" for source in ("hostpath", "nfs")]


def _signing(cluster: ClusterOptions) -> list[str]:
    """Return who signs certificate requests: what kubelets serve with is checked by one CA, clients by another."""
    if any(flag.startswith("--cluster-signing-") for flag in cluster.extra.get("controller-manager", ())):
        return []
    authorities = {
        "kubelet-serving": "server-ca",
        "kubelet-client": "client-ca",
        "kube-apiserver-client": "client-ca",
        "legacy-unknown": "client-ca",
    }
    return [
        f"--cluster-signing-{signer}-{part}-file={cluster.layout.pki / f'{ca}.{ending}'}"
        for signer, ca in authorities.items()
        for part, ending in (("cert", "crt"), ("key", "key"))
    ]


def _unattended(cluster: ClusterOptions) -> list[str]:
    flags = cluster.extra.get("controller-manager", ())
    given = [flag for flag in flags if flag.startswith("--controllers=")]
    parts = given[-1].partition("=")[2].split(",") if given else ["*"]
    has_cloud = any(flag.startswith(("--cloud-provider=", "--cloud_provider=")) for flag in flags)
    running = {*chosen(descriptors(installed("controller")), parts), *cluster.addons}
    return unattended(running, has_cloud=has_cloud)


def kubelet_arguments(cluster: ClusterOptions) -> list[str]:
    """Return the real node's command line."""
    layout, pki = cluster.layout, cluster.layout.pki
    return [
        f"--hostname-override={cluster.node_name}",
        f"--root-dir={layout.kubelet}",
        f"--container-runtime={cluster.runtime}",
        f"--address={cluster.bind_address}",
        f"--port={cluster.kubelet_port}",
        "--healthz-port=0",
        f"--node-ip={cluster.bind_address if cluster.bind_address not in ANYWHERE else '127.0.0.1'}",
        f"--pod-manifest-path={layout.root / 'manifests'}",
        f"--unprivileged-port-offset={cluster.unprivileged_port_offset}",
        f"--client-ca-file={pki / 'client-ca.crt'}",
        f"--tls-cert-file={pki / 'serving-kubelet.crt'}",
        f"--tls-private-key-file={pki / 'serving-kubelet.key'}",
        f"--kubeconfig={layout.kubeconfig('kubelet')}",
        f"--eviction-hard={EVICTION_HARD}",
        *_dns_arguments(cluster),
        *_csi_arguments(cluster),
    ]


def _csi_arguments(cluster: ClusterOptions) -> list[str]:
    """Return where the driver of the default storage class has its volumes, if that is a class of the cluster."""
    return [f"--{CSI_ADDON}-dir={cluster.layout.root / CSI_ADDON}"] if CSI_ADDON in cluster.addons else []


def _dns_arguments(cluster: ClusterOptions) -> list[str]:
    """Return where pods ask for names.

    Where port 53, which resolvers cannot do without, is not served, that is no server: hosts files name the Services.
    """
    if DNS_ADDON not in cluster.addons:
        return []
    if cluster.unprivileged_port_offset:
        return [f"--cluster-domain={CLUSTER_DOMAIN}"]
    addresses = ipaddress.ip_network(cluster.service_range.partition(",")[0])
    if addresses.num_addresses <= _DNS_INDEX:
        return []
    return [f"--cluster-dns={addresses[_DNS_INDEX]}", f"--cluster-domain={CLUSTER_DOMAIN}"]


def simulated_node_arguments(cluster: ClusterOptions, index: int) -> list[str]:
    """Return a simulated node's command line."""
    return [
        f"--hostname-override={simulated_node_name(index)}",
        f"--root-dir={cluster.layout.kubelet / simulated_node_name(index)}",
        "--container-runtime=hollow",
        "--enable-server=false",
        "--port=0",
        "--healthz-port=0",
        "--node-ip=127.0.0.1",
        "--node-labels=hyperkube.dev/hollow=true",
        f"--kubeconfig={cluster.layout.kubeconfig('admin')}",
        f"--v={cluster.verbosity}",
    ]
