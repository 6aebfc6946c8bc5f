"""What loading the plugins of every family needs: the context that each is given, hooks for direct calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from hyperkube.plugin import PluginContext, PluginHost


class ContextOf(Protocol):
    """Makes the contexts of plugins."""

    def __call__(self, family: str, name: str, table: Mapping[str, Any] | None = None) -> PluginContext:
        """Return the context of one plugin; `table` is what the configuration file of its family says of it."""


def hooks(host: PluginHost[Any], name: str) -> Sequence[Callable[..., Any]]:
    """Return one hook's functions of a host's plugins, in calling order, for direct calls on the hot path."""
    return [getattr(plugin, name) for plugin in host.plugins if hasattr(plugin, name)]


def may_block(hook: Callable[..., Any]) -> bool:
    """Tell whether a hook may wait for something outside, by the word of its plugin (see `Plugin.may_block`)."""
    return bool(getattr(getattr(hook, "__self__", None), "may_block", True))


class PluginHosts:
    """The plugins of one server, by family, in the order in which they were loaded."""

    def __init__(self) -> None:
        self._hosts: list[PluginHost[Any]] = []

    def add(self, host: PluginHost[Any]) -> None:
        """Have plugins started and closed with the server."""
        self._hosts.append(host)

    def __iter__(self) -> Iterator[PluginHost[Any]]:
        return iter(self._hosts)

    def ready(self, family: str = "") -> bool:
        """Tell whether all plugins are ready, or those of one family."""
        return all(host.ready() for host in self._hosts if family in {"", host.family})

    def start(self) -> None:
        """Start all."""
        for host in self._hosts:
            host.start()

    def close(self) -> None:
        """Close all, the last loaded first."""
        for host in reversed(self._hosts):
            host.close()
