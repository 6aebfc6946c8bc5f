"""The resolver settings of a pod, from its DNS policy and the node's settings.

Source: kubernetes ``pkg/kubelet/network/dns/dns.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hyperkube.hookspecs.runtime import Config
from hyperkube.machinery.objects import Object, namespace_of
from hyperkube.machinery.record import Record

MOST_SERVERS, MOST_SEARCHES, MOST_SEARCH_CHARACTERS, LONGEST_SEARCH = 3, 32, 2048, 253


class DnsSettings(Record):
    """The node's settings.

    Attributes:
        servers: the cluster's DNS servers, none when there are none.
        domain: the cluster's domain, or empty.
        node_file: the node's own resolver file; None for no name resolution but by the node itself.
        node_ips: the node's addresses.
    """

    servers: tuple[str, ...]
    domain: str
    node_file: Path | None
    node_ips: tuple[str, ...] = ()


class PodDns(NamedTuple):
    """A pod's ``DNSConfig``, and what of it had to be left out: messages for events."""

    config: Config
    warnings: tuple[str, ...] = ()


class ResolverFile(NamedTuple):
    """What a resolver file says; the last ``search`` and ``options`` line wins, servers add up."""

    servers: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def uses_node_resolver(pod: Object, settings: DnsSettings) -> bool:
    """Tell whether a pod resolves names as the node does: it asks for that, or there is no cluster DNS."""
    policy = pod["spec"].get("dnsPolicy") or "ClusterFirst"
    if policy == "None":
        return False
    on_host = policy == "ClusterFirst" and pod["spec"].get("hostNetwork")
    return bool(policy == "Default" or on_host or not settings.servers)


def lacks_cluster_dns(pod: Object, settings: DnsSettings) -> bool:
    """Tell whether a pod asks for the cluster's DNS, and there is none."""
    policy = pod["spec"].get("dnsPolicy") or "ClusterFirst"
    if policy == "ClusterFirst":
        return not settings.servers and not pod["spec"].get("hostNetwork")
    return policy == "ClusterFirstWithHostNet" and not settings.servers


def pod_dns(pod: Object, settings: DnsSettings) -> PodDns:
    """Return the resolver settings of a pod."""
    found = _base(pod, settings)
    servers, searches, options = list(found.servers), list(found.searches), list(found.options)
    own = pod["spec"].get("dnsConfig")
    if own:
        servers = _unique([*servers, *(own.get("nameservers") or ())])
        searches = _unique([*searches, *(own.get("searches") or ())])
        options = _merged(options, own.get("options") or ())
    warnings: list[str] = []
    if len(servers) > MOST_SERVERS:
        servers = servers[:MOST_SERVERS]
        warnings.append(
            "Nameserver limits were exceeded, some nameservers have been omitted, "
            f"the applied nameserver line is: {' '.join(servers)}"
        )
    fitting = _fitting(searches)
    if fitting != searches:
        warnings.append(
            "Search Line limits were exceeded, some search paths have been omitted, "
            f"the applied search line is: {' '.join(fitting)}"
        )
    parts = {"servers": servers, "searches": fitting, "options": options}
    return PodDns({name: values for name, values in parts.items() if values}, tuple(warnings))


def _base(pod: Object, settings: DnsSettings) -> ResolverFile:
    """Return what the pod's policy alone gives."""
    if pod["spec"].get("dnsPolicy") == "None":
        return ResolverFile()
    node = ResolverFile() if settings.node_file is None else read_resolver_file(settings.node_file)
    if not uses_node_resolver(pod, settings):
        searches = list(node.searches)
        if settings.domain:
            domains = (f"{namespace_of(pod)}.svc.{settings.domain}", f"svc.{settings.domain}", settings.domain)
            searches = _unique([*domains, *searches])
        return ResolverFile(settings.servers, tuple(searches), ("ndots:5",))
    if settings.node_file is None:
        # An empty --resolv-conf: a resolver asks the node itself, and searches nowhere.
        own = tuple("::1" if ":" in ip else "127.0.0.1" for ip in settings.node_ips)
        return ResolverFile(own or ("127.0.0.1",), (".",))
    return node


def resolver_text(config: Config) -> str:
    """Return the text of a resolver file, for runtimes that leave it to the kubelet."""
    lines = [f"search {' '.join(config['searches'])}"] if config.get("searches") else []
    lines += [f"nameserver {server}" for server in config.get("servers", ())]
    lines += [f"options {' '.join(config['options'])}"] if config.get("options") else []
    return "".join(f"{line}\n" for line in lines)


def read_resolver_file(path: Path) -> ResolverFile:
    """Return what a resolver file says; nothing without one."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ResolverFile()
    servers: list[str] = []
    searches: list[str] = []
    options: list[str] = []
    for line in text.splitlines():
        word, *values = line.strip().split() or [""]
        if word == "nameserver":
            servers += values[:1]
        elif word == "search":
            searches = [value.removesuffix(".") for value in values]
        elif word == "options":
            options = values
    return ResolverFile(tuple(servers), tuple(searches), tuple(options))


def _unique(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _merged(options: Sequence[str], own: Sequence[Object]) -> list[str]:
    """Return the options with the pod's own in the place of those of the same name."""
    merged = {text.partition(":")[0]: text for text in options}
    for entry in own:
        merged[entry["name"]] = f"{entry['name']}:{entry['value']}" if entry.get("value") else entry["name"]
    return list(merged.values())


def _fitting(searches: Sequence[str]) -> list[str]:
    """Return the search domains that resolvers can take."""
    fitting = [search for search in searches[:MOST_SEARCHES] if len(search) <= LONGEST_SEARCH]
    while len(" ".join(fitting)) > MOST_SEARCH_CHARACTERS:
        fitting.pop()
    return fitting
