"""etcd: the cluster in an etcd v3 cluster, under the keys where Kubernetes keeps it; for several API servers."""

from __future__ import annotations

from hyperkube_storage.etcd.endpoints import Access
from hyperkube_storage.etcd.store import EtcdStore

from hyperkube.hookspecs import hookimpl
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin
from hyperkube.storage.retention import DEFAULT_SECONDS
from hyperkube.storage.store import Store

__all__ = ["Access", "Etcd", "EtcdSettings", "EtcdStore"]


class EtcdSettings(Record):
    """Settings of this plugin.

    Attributes:
        user: name to log in with, empty for none.
        password: that goes with it.
        history_seconds: how long replaced versions stay readable; 0 leaves compaction to others; None for
            ``--etcd-compaction-interval``.
    """

    user: str = ""
    password: str = ""
    history_seconds: float | None = None
    etcd_servers: tuple[str, ...] = ()
    etcd_cafile: str = ""
    etcd_certfile: str = ""
    etcd_keyfile: str = ""
    etcd_compaction_interval: float = DEFAULT_SECONDS


class Etcd(Plugin):
    """Connects to ``--etcd-servers`` with ``--etcd-cafile``, ``--etcd-certfile`` and ``--etcd-keyfile``."""

    @hookimpl
    def storage_open(self) -> Store:
        """Return the store; etcd is asked nothing yet, so that it may come up later."""
        settings = self.settings(EtcdSettings)
        access = Access(
            servers=settings.etcd_servers,
            ca_file=settings.etcd_cafile,
            cert_file=settings.etcd_certfile,
            key_file=settings.etcd_keyfile,
            user=settings.user,
            password=settings.password,
            dial=self.context.egress.get("etcd"),
        )
        seconds = settings.history_seconds
        if seconds is None:
            seconds = settings.etcd_compaction_interval
        return EtcdStore(access, self.context.clock, history_seconds=seconds)
