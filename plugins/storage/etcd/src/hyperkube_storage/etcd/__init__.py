"""etcd: the cluster in an etcd v3 cluster, under the keys where Kubernetes keeps it; for several API servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hyperkube_storage.etcd.endpoints import Access
from hyperkube_storage.etcd.store import EtcdStore

from hyperkube.hookspecs import hookimpl
from hyperkube.plugin import Plugin
from hyperkube.storage.retention import DEFAULT_SECONDS
from hyperkube.storage.store import Store

__all__ = ["Access", "Etcd", "EtcdSettings", "EtcdStore"]


@dataclass(frozen=True, slots=True)
class EtcdSettings:
    """Settings of this plugin.

    Attributes:
        user: name to log in with, empty for none.
        password: that goes with it.
        history_seconds: how long replaced versions stay readable; 0 leaves compaction to somebody else; None for
            ``--etcd-compaction-interval``.
    """

    user: str = ""
    password: str = ""
    history_seconds: float | None = None


class Etcd(Plugin):
    """Connects to ``--etcd-servers`` with ``--etcd-cafile``, ``--etcd-certfile`` and ``--etcd-keyfile``."""

    @hookimpl
    def storage_open(self) -> Store:
        """Return the store; etcd is asked nothing yet, so that it may come up later."""
        settings, options = self.settings(EtcdSettings), self.context.options
        access = Access(
            servers=_servers(options.get("etcd-servers")),
            ca_file=str(options.get("etcd-cafile") or ""),
            cert_file=str(options.get("etcd-certfile") or ""),
            key_file=str(options.get("etcd-keyfile") or ""),
            user=settings.user,
            password=settings.password,
        )
        seconds = settings.history_seconds
        if seconds is None:
            seconds = float(options.get("etcd-compaction-interval", DEFAULT_SECONDS))
        return EtcdStore(access, self.context.clock, history_seconds=seconds)


def _servers(value: Any) -> list[str]:
    """Return the servers of a flag that holds a list or a comma-separated text."""
    servers = value.split(",") if isinstance(value, str) else list(value or [])
    return [server.strip() for server in servers if server.strip()]
