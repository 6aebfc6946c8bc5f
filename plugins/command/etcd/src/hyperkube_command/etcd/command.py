"""hyperkube etcd: the command line, with the flags of etcd that tests and small machines give."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import click

from hyperkube.machinery.errors import UsageError

_WITHOUT_EFFECT = (
    "advertise-client-urls", "listen-peer-urls", "initial-advertise-peer-urls", "initial-cluster",
    "initial-cluster-state", "initial-cluster-token", "log-level", "logger", "log-outputs", "snapshot-count",
    "quota-backend-bytes", "auto-compaction-mode", "auto-compaction-retention", "listen-metrics-urls",
    "experimental-initial-corrupt-check", "experimental-watch-progress-notify-interval", "heartbeat-interval",
    "election-timeout", "max-request-bytes",
)  # fmt: skip
"""Flags that are accepted: one server has no peers, and what its store does has flags of its own."""
_REFUSED = ("cert-file", "key-file", "client-cert-auth", "trusted-ca-file", "auto-tls", "auth-token")
"""Security options, which must not be taken and then not followed."""


def addresses(urls: str) -> list[tuple[str, int]]:
    """Return where ``--listen-client-urls`` says to listen.

    Raises:
        UsageError: one is no address of plain HTTP.
    """
    found = []
    for url in urls.split(","):
        parts = urlsplit(url.strip())
        if parts.scheme != "http" or not parts.hostname or not parts.port:
            raise UsageError(f"--listen-client-urls: {url!r} must be http://ADDRESS:PORT (TLS is not built)")
        found.append((parts.hostname, parts.port))
    return found


def _flags(function: click.Command) -> click.Command:
    for name in _WITHOUT_EFFECT:
        click.option(f"--{name}", default=None, help="accepted, without effect")(function)
    for name in _REFUSED:
        click.option(f"--{name}", default=None, hidden=True)(function)
    return function


@_flags
@click.command()
@click.option("--listen-client-urls", default="http://127.0.0.1:2379", show_default=True, help="where clients connect")
@click.option("--data-dir", default="", help="folder of the store; without it everything is forgotten at the end")
@click.option("--name", default="default", show_default=True, help="what the member is called")
@click.option("--unsafe-no-fsync", type=bool, default=False, help="forget everything at the end, in exchange for speed")
def command(listen_client_urls: str, data_dir: str, name: str, unsafe_no_fsync: bool, **others: str | None) -> None:
    """Serve etcd's v3 API from hyperkube's own store: keys, transactions, watches, leases.

    For tests and single machines: one member, no TLS, no users. Leases end with the process.

    Example: hyperkube etcd --data-dir=./etcd --listen-client-urls=http://127.0.0.1:2379
    """
    for option, value in others.items():
        flag = option.replace("_", "-")
        if value is not None and flag in _REFUSED:
            raise UsageError(f"--{flag} is not built: hyperkube etcd serves without TLS and users; keep it on loopback")
    _serve(addresses(listen_client_urls), "" if unsafe_no_fsync else data_dir, name)


def _serve(places: list[tuple[str, int]], data_dir: str, name: str) -> None:
    from hyperkube_command.etcd.server import EtcdServer

    from hyperkube.command.lifecycle import Lifecycle, stop_signal
    from hyperkube.hookspecs import storage as specs
    from hyperkube.hookspecs.base import PluginContext
    from hyperkube.machinery.clock import SystemClock
    from hyperkube.plugin.loader import load

    clock = SystemClock()
    backend = "sqlite" if data_dir else "memory"
    settings = (
        {"data_dir": str(Path(data_dir).absolute()), "history_seconds": 0.0} if data_dir else {"history_seconds": 0.0}
    )
    host = load("storage", [backend], specs, lambda word: PluginContext(name=word, clock=clock, settings=settings))
    with stop_signal() as stopped, Lifecycle() as life:
        store = host.hook.storage_open()
        life.on_close("the store", store.close)
        life.start("etcd", EtcdServer(store, clock, places, name=name, size=lambda: _bytes_in(data_dir)))
        listed = ",".join(f"http://{host}:{port}" for host, port in places)
        click.echo(f"serving client traffic insecurely; this is strongly discouraged beyond tests: {listed}", err=True)
        stopped.wait()


def _bytes_in(folder: str) -> int:
    """Return the size of the files in a folder; 0 without one."""
    return sum(path.stat().st_size for path in Path(folder).glob("*") if path.is_file()) if folder else 0
