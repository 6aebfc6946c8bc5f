"""Takes up an AuthorizationConfiguration file that has changed, while the server runs.

Authorizers that keep state of their own (RBAC, Node, ABAC) must have been there from the start and live on; a webhook
whose entry is the same does too, others are made anew. A file that is wrong changes nothing.
Source: kubernetes ``pkg/kubeapiserver/authorizer/reload.go``.
"""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from hyperkube_host.apiserver.authorization.authorizers import build_authorizer
from hyperkube_host.apiserver.authorization.configuration import AuthorizerConfiguration, from_file
from hyperkube_host.apiserver.authorization.union import Authorization
from hyperkube_host.apiserver.plugins import ContextOf, hooks

from hyperkube.hookspecs import authz
from hyperkube.hookspecs.authz import AuthzHooks
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import Plugin, PluginHost

RELOAD_SECONDS = 1.0
"""How often the file is looked at."""

_MADE_ANEW = frozenset({"Webhook", "AlwaysAllow", "AlwaysDeny"})
_logger = logging.getLogger("hyperkube.apiserver")


class AuthorizerReloader:
    """The authorizers of ``--authorization-config``; does nothing where there is no file.

    Args:
        host: the authorizers as they were built at the start.
        authorization: asks them, and is told of new ones.
        context: makes the context of one that is new.
        path: of the file, empty without one.
        clock: for the interval.
    """

    def __init__(
        self,
        host: PluginHost[AuthzHooks],
        authorization: Authorization,
        context: ContextOf,
        path: str,
        clock: Clock,
    ) -> None:
        self._path = path
        self._authorization = authorization
        self._context = context
        self._clock = clock
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._read = self._content()
        self._chosen = from_file(self._path) if self._path else []
        self._initial = dict(zip([chosen.plugin for chosen in self._chosen], host.plugins, strict=False))
        self._plugins = dict(zip([chosen.name for chosen in self._chosen], host.plugins, strict=False))
        self._made: list[Plugin] = []

    def _content(self) -> bytes:
        try:
            return Path(self._path).read_bytes() if self._path else b""
        except OSError as error:
            _logger.warning("reloading authorization config: %s", error)
            return self._read

    def start(self) -> None:
        """Begin to look at the file."""
        if self._path:
            self._thread = threading.Thread(target=self._run, name="authorization-config", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while not self._clock.wait(self._closed, RELOAD_SECONDS):
            self.check()

    def check(self) -> bool:
        """Take the file up if it has changed; tell whether it was."""
        content = self._content()
        if content == self._read:
            return False
        self._read = content
        try:
            return self._take_up(from_file(self._path))
        except UsageError as error:
            _logger.warning("keeping the authorizers there were: %s", error)
            return False

    def _take_up(self, chosen: list[AuthorizerConfiguration]) -> bool:
        if chosen == self._chosen:
            return False
        before = {one.name: one for one in self._chosen}
        kept = {one.name: self._plugins[one.name] for one in chosen if before.get(one.name) == one}
        new: list[Plugin] = []
        plugins: dict[str, Plugin] = {}
        for one in chosen:
            plugin = kept.get(one.name)
            if plugin is None and one.plugin not in _MADE_ANEW:
                plugin = self._initial.get(one.plugin)
                if plugin is None:
                    raise UsageError(
                        f"authorizer type {one.plugin} is not allowed if it was not enabled at initial server startup"
                    )
            if plugin is None:
                plugin = build_authorizer(one, self._context)
                plugin.start()
                new.append(plugin)
            plugins[one.name] = plugin
        self._switch(PluginHost("authz", authz, list(plugins.items())))
        gone = [plugin for plugin in self._made if plugin not in plugins.values()]
        self._made = [plugin for plugin in self._made if plugin not in gone] + new
        self._chosen, self._plugins = chosen, plugins
        for plugin in gone:
            plugin.close()
        _logger.info("took up new authorizers from %s: %s", self._path, ", ".join(plugins))
        return True

    def _switch(self, host: PluginHost[AuthzHooks]) -> None:
        self._authorization.replace(
            hooks(host, "authz_authorize"), hooks(host, "authz_epoch"), hooks(host, "authz_rules")
        )

    def close(self) -> None:
        """Look no more, and close what was made here; idempotent."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        for plugin in self._made:
            plugin.close()
        self._made = []
