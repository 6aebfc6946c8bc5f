"""The host name of a pod, and its hosts file.

Source: kubernetes ``pkg/kubelet/kubelet_pods.go`` (GeneratePodHostNameAndDomain, managedHostsFileContent).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hyperkube.machinery.objects import Object, name_of, namespace_of

LABEL_MAX, KERNEL_MAX = 63, 64
_NODE_HOSTS = Path("/etc/hosts")


def pod_hostname_and_domain(pod: Object, cluster_domain: str) -> tuple[str, str]:
    """Return the host name of a pod and its domain, which is empty without a subdomain."""
    spec = pod["spec"]
    if spec.get("hostnameOverride") and not spec.get("hostNetwork"):
        return str(spec["hostnameOverride"]), ""
    hostname = str(spec.get("hostname") or name_of(pod))[:LABEL_MAX].rstrip("-.")
    subdomain = spec.get("subdomain")
    return hostname, f"{subdomain}.{namespace_of(pod)}.svc.{cluster_domain}" if subdomain else ""


def kernel_hostname(pod: Object, cluster_domain: str) -> str:
    """Return what ``hostname`` prints in the pod: its host name, or with ``setHostnameAsFQDN`` the full one.

    Raises:
        ConfigFailed: the full name is longer than the kernel takes.
    """
    from hyperkube_host.kubelet.kuberuntime.environment import ConfigFailed

    hostname, domain = pod_hostname_and_domain(pod, cluster_domain)
    if not pod["spec"].get("setHostnameAsFQDN") or not domain:
        return hostname
    full = f"{hostname}.{domain}"
    if len(full) > KERNEL_MAX:
        raise ConfigFailed(
            f"failed to construct FQDN from pod hostname and cluster domain, FQDN {full} is too long "
            f"({KERNEL_MAX} characters is the max, {len(full)} characters requested)"
        )
    return full


def hosts_file(pod: Object, ips: Sequence[str], cluster_domain: str, node_hosts: Path = _NODE_HOSTS) -> str:
    """Return the hosts file of a pod.

    Args:
        pod: on the network of the node it has the node's file with its own aliases.
        ips: its addresses.
        cluster_domain: the cluster's domain.
        node_hosts: the node's hosts file.
    """
    aliases = "".join(
        f"{alias['ip']}\t" + "\t".join(alias.get("hostnames") or ()) + "\n"
        for alias in pod["spec"].get("hostAliases") or ()
    )
    if aliases:
        aliases = "\n# Entries added by HostAliases.\n" + aliases
    if pod["spec"].get("hostNetwork"):
        own = node_hosts.read_text(encoding="utf-8", errors="replace") if node_hosts.exists() else ""
        return "# Kubernetes-managed hosts file (host network).\n" + own + aliases
    hostname, domain = pod_hostname_and_domain(pod, cluster_domain)
    names = f"{hostname}.{domain}\t{hostname}" if domain else hostname
    return (
        "# Kubernetes-managed hosts file.\n"
        "127.0.0.1\tlocalhost\n"
        "::1\tlocalhost ip6-localhost ip6-loopback\n"
        "fe00::0\tip6-localnet\n"
        "fe00::0\tip6-mcastprefix\n"
        "fe00::1\tip6-allnodes\n"
        "fe00::2\tip6-allrouters\n" + "".join(f"{ip}\t{names}\n" for ip in ips) + aliases
    )
