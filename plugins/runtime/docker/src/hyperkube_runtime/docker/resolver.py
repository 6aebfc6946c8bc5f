"""A pod's ``resolv.conf``: Docker writes one per sandbox, which is written anew with what the pod asks for.

Docker's own options add to the node's file instead of replacing it, and cannot say ``ndots``.

Source: kubernetes ``pkg/kubelet/dockershim/docker_sandbox.go`` (rewriteResolvFile).
"""

from __future__ import annotations

from pathlib import Path

from hyperkube.hookspecs.runtime import Config


def resolver_text(dns: Config) -> str:
    """Return the file of a ``DNSConfig``."""
    lines = [f"nameserver {server}" for server in dns.get("servers", ())]
    if dns.get("searches"):
        lines.append("search " + " ".join(dns["searches"]))
    if dns.get("options"):
        lines.append("options " + " ".join(dns["options"]))
    return "".join(f"{line}\n" for line in lines)


def write_resolver_file(path: Path, dns: Config) -> None:
    """Write a sandbox's file in its place: it is mounted into the containers to come.

    Raises:
        OSError: it cannot be written: Docker runs on another machine, or in other namespaces than this process.
    """
    path.write_text(resolver_text(dns), encoding="utf-8")
