"""The first stage: options, clock, the server's own clients, and the contexts that plugins are given."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from hyperkube_host.apiserver.flags import FAMILIES, FLAGS, NAME
from hyperkube_host.apiserver.in_process.client import InProcessClient
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.pipeline.request_path import RequestPath
from hyperkube_host.apiserver.plugins import PluginHosts
from hyperkube_host.apiserver.promise import Promise
from hyperkube_lib.serving.loop import EdgeLoop, TimeSlices

from hyperkube.client.client import Client
from hyperkube.client.informer import InformerFactory
from hyperkube.client.shared_threads import SharedThreads
from hyperkube.hookspecs.authz import Attributes, Authorizer, Decision, Rules
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dial import Dial
from hyperkube.machinery.record import Record
from hyperkube.machinery.users import LOOPBACK, UserInfo
from hyperkube.plugin import PluginContext
from hyperkube.plugin.settings import PluginSettings

LOGGER = logging.getLogger("hyperkube.apiserver")
_STORAGE = "storage"


class PromisedAuthorizer:
    """The server's authorizers, for plugins that are built before them."""

    def __init__(self, authorizer: Promise[Authorizer]) -> None:
        self._authorizer = authorizer

    def authorize(self, attributes: Attributes) -> Decision:
        """Decide; see `Authorizer`."""
        return self._authorizer.get().authorize(attributes)

    def rules(self, user: UserInfo, namespace: str) -> Rules:
        """Return what a user may do in a namespace; see `Authorizer`."""
        return self._authorizer.get().rules(user, namespace)


class Foundation(Record):
    """What all later stages stand on.

    Attributes:
        root: the prefix of all keys in the store, with a slash at its end.
        threads: of the informers of this process, whichever client has them.
        slices: of all that computes for long beside the loop.
        hosts: the plugins of every family, as they are loaded.
        request_path: how requests of this process are answered.
        loopback: the server's client of itself.
        authorizer: who decides what users may do.
    """

    options: Options
    plugin_settings: PluginSettings
    clock: Clock
    root: str
    threads: SharedThreads
    slices: TimeSlices
    informers: InformerFactory
    hosts: PluginHosts
    request_path: Promise[RequestPath]
    loopback: Client
    authorizer: Promise[Authorizer]
    egress: Mapping[str, Dial]

    def client(self, user: UserInfo) -> Client:
        """Return the API as `user` sees it, without a socket."""
        return InProcessClient(self.request_path.get, user, self.clock, self.threads, slices=self.slices)

    def context(self, family: str, name: str, table: Mapping[str, Any] | None = None) -> PluginContext:
        """Return what a plugin is given; storage is below the API, and gets nothing of it; see `ContextOf`."""
        is_storage = family == _STORAGE
        return PluginContext(
            name=name,
            clock=self.clock,
            logger=logging.getLogger(f"hyperkube.{family}.{name}"),
            gates=self.options.gates,
            settings=self.plugin_settings.of(family, name, table),
            settings_of=self.plugin_settings.of,
            client=None if is_storage else self.loopback,
            informers=None if is_storage else self.informers,
            authorizer=None if is_storage else PromisedAuthorizer(self.authorizer),
            egress=self.egress,
        )


def lay_foundation(options: Options, clock: Clock, loop: EdgeLoop | None = None) -> Foundation:
    """Return the first stage of a server with these options, whose connections a loop has."""
    request_path = Promise[RequestPath]("the request path")
    threads = SharedThreads("informers", clock)
    slices = TimeSlices(loop)
    loopback = InProcessClient(request_path.get, LOOPBACK, clock, threads, slices=slices)
    return Foundation(
        options=options,
        plugin_settings=PluginSettings(NAME, FAMILIES, options.values, FLAGS),
        clock=clock,
        root=options.storage.etcd_prefix.rstrip("/") + "/",
        threads=threads,
        slices=slices,
        informers=InformerFactory(loopback, clock),
        hosts=PluginHosts(),
        request_path=request_path,
        loopback=loopback,
        authorizer=Promise[Authorizer]("the authorizer"),
        egress=_egress(str(options.values.get("egress-selector-config-file") or "")),
    )


def _egress(file: str) -> Mapping[str, Dial]:
    if not file:
        return {}
    from hyperkube_host.apiserver.egress_selector import open_selector

    return open_selector(file)
