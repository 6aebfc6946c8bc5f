"""The base class of every plugin and the context it is built with.

One instance per host, built complete: everything a plugin may use arrives in one frozen context. A plugin needs no
constructor; it finds the context in ``self.context``. Optional life cycle, called by the host: `start` once all
plugins are built, `ready` before the host reports itself ready, `close` at the end.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from hyperkube.hookspecs.settings import parse_settings
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

    from hyperkube.client.client import Client
    from hyperkube.client.informer import InformerFactory
    from hyperkube.hookspecs.authz import Authorizer
    from hyperkube.machinery.dial import Dial

Settings = TypeVar("Settings")


class MetricsRegistry(Protocol):
    """Where a plugin brings its metrics: Prometheus' own registry, or one that is put together when it is read."""

    def register(self, collector: Collector) -> None:
        """Ask the collector each time the host's metrics are read."""


def _no_gates() -> Mapping[str, bool]:
    return {}


def _no_settings(_family: str, _name: str) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginContext:
    """What a host gives each of its plugins.

    Attributes:
        name: the entry-point name the plugin was chosen by.
        clock: the cluster's time; use nothing else.
        logger: a logger of this plugin's own.
        gates: feature gate → on or off; ask for known names only.
        settings: what this plugin is configured with, as plain data: its flags and its tables in configuration files;
            read it with `Plugin.settings`.
        settings_of: the same of another plugin, by family and name, for a plugin that loads others: see `of_plugin`.
        client: acts as the plugin's own identity; None in hosts that have no API access (a storage tool).
        informers: shared caches of the process, in a scope of the plugin's own; None likewise. The host is not ready
            before those that the plugin asks for in its constructor are filled.
        authorizer: answers "may this user do that"; None outside the API server.
        metrics: the host's own registry; None when metrics are off.
        egress: what dials, by ``cluster``, ``controlplane`` and ``etcd``, where ``--egress-selector-config-file`` names
            a proxy.
    """

    name: str
    clock: Clock = field(default_factory=SystemClock)
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("hyperkube.plugin"))
    gates: Mapping[str, bool] = field(default_factory=_no_gates)
    settings: Mapping[str, Any] = field(default_factory=dict)
    settings_of: Callable[[str, str], Mapping[str, Any]] = _no_settings
    client: Client | None = None
    informers: InformerFactory | None = None
    authorizer: Authorizer | None = None
    metrics: MetricsRegistry | None = None
    egress: Mapping[str, Dial] = field(default_factory=dict)

    def of_plugin(self, family: str, name: str) -> PluginContext:
        """Return the context of another plugin that this one loads: the same, with settings of its own."""
        return replace(self, name=name, settings=self.settings_of(family, name))


class Plugin:
    """The base of every plugin: holds the context, offers the optional life cycle.

    Attributes:
        may_block: whether its hooks may wait for anything but the cluster's own objects: another server, a process, the
            clock. The API server calls hooks of plugins that never do on a thread that many requests share by turns;
            others cost a hand-over to a thread of their own. For admission plugins and authorizers; see `WaitsAtTimes`.
        handles: the resources, and subresources, with which the hooks of an admission plugin have to do, by name and of
            whatever group (``pods``, ``pods/status``): they are called for no others. None: for all.
        only_refuses: whether an admission plugin changes no object: it is shown what is shared with the stored one.
    """

    may_block: ClassVar[bool] = True
    handles: ClassVar[frozenset[str] | None] = None
    only_refuses: ClassVar[bool] = False

    def __init__(self, context: PluginContext) -> None:
        self.context = context

    @property
    def client(self) -> Client:
        """The API as this plugin's own identity.

        Raises:
            UsageError: this host has no API access, so the plugin cannot be used in it.
        """
        if self.context.client is None:
            raise UsageError(f"plugin {self.context.name!r} needs API access, which this host does not have")
        return self.context.client

    @property
    def informers(self) -> InformerFactory:
        """The shared caches of the process.

        Raises:
            UsageError: this host has no API access, so the plugin cannot be used in it.
        """
        if self.context.informers is None:
            raise UsageError(f"plugin {self.context.name!r} needs informers, which this host does not have")
        return self.context.informers

    def settings(self, shape: type[Settings]) -> Settings:
        """Return the plugin's settings as the frozen dataclass or `Record` that is `shape`.

        Raises:
            UsageError: a key that `shape` does not have, a missing one that has no default, or a value of another type.
        """
        return parse_settings(self.context.name, shape, self.context.settings)

    def start(self) -> None:
        """Begin background work; called once, after all plugins of the host were built."""

    def ready(self) -> bool:
        """Tell whether the plugin can do its work; the host reports itself ready when all can.

        The informers that the plugin asked for when it was built need no word here: the host waits for them itself.
        """
        return True

    def close(self) -> None:
        """End background work and release what is held; called once, also after a failed start."""
