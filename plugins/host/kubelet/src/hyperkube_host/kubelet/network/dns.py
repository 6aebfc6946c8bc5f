"""The resolver file of a pod, from its DNS policy and the node's settings.

Source: kubernetes ``pkg/kubelet/network/dns/dns.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hyperkube.machinery.objects import Object, namespace_of

MOST_SERVERS, MOST_SEARCHES = 3, 32


def resolver_file(pod: Object, servers: Sequence[str], domain: str, node_file: Path) -> str | None:
    """Return the text of the pod's ``resolv.conf``, or None when the node's own one serves.

    Args:
        pod: with ``dnsPolicy``, ``dnsConfig`` and ``hostNetwork``.
        servers: the cluster's DNS servers, none when there are none.
        domain: the cluster's domain, or empty.
        node_file: the node's own resolver file.
    """
    spec = pod["spec"]
    policy = spec.get("dnsPolicy") or "ClusterFirst"
    if policy == "ClusterFirst" and spec.get("hostNetwork"):
        policy = "Default"
    if policy in {"ClusterFirst", "ClusterFirstWithHostNet"} and not servers:
        policy = "Default"
    config = spec.get("dnsConfig") or {}
    if policy == "Default" and not config:
        return None
    found: dict[str, list[str]] = {"nameserver": [], "search": [], "options": []}
    if policy == "Default":
        found = _read(node_file)
    elif policy != "None":
        found["nameserver"] = list(servers)
        if domain:
            found["search"] = [f"{namespace_of(pod)}.svc.{domain}", f"svc.{domain}", domain]
        found["search"] += _read(node_file)["search"]
        found["options"] = ["ndots:5"]
    found["nameserver"] += config.get("nameservers") or []
    found["search"] += config.get("searches") or []
    options = {text.partition(":")[0]: text for text in found["options"]}
    for entry in config.get("options") or []:
        options[entry["name"]] = f"{entry['name']}:{entry['value']}" if entry.get("value") else entry["name"]
    lines = [f"nameserver {server}" for server in dict.fromkeys(found["nameserver"])][:MOST_SERVERS]
    searches = list(dict.fromkeys(found["search"]))[:MOST_SEARCHES]
    if searches:
        lines.insert(0, f"search {' '.join(searches)}")
    if options:
        lines.append(f"options {' '.join(options.values())}")
    return "\n".join(lines) + "\n"


def _read(path: Path) -> dict[str, list[str]]:
    """Return the servers, the last search list and the options of a resolver file; nothing without one."""
    found: dict[str, list[str]] = {"nameserver": [], "search": [], "options": []}
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return found
    for line in text.splitlines():
        word, *values = line.split("#")[0].split() or [""]
        if word in {"nameserver", "options"}:
            found[word] += values
        elif word == "search":
            found[word] = values
    return found
