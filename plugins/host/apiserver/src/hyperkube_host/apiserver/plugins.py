"""What loading the plugins of every family needs: the context that each is given, hooks for direct calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperkube.plugin import PluginContext, PluginHost

ContextOf = Callable[[str, str], PluginContext]
"""Makes the context of a plugin: (family, name)."""


def listed(options: Mapping[str, Any], name: str) -> list[str]:
    """Return a flag that is a list, given as a list or as text."""
    value = options.get(name)
    if not value:
        return []
    if isinstance(value, str):
        return [item for item in value.split(",") if item]
    return [str(item) for item in value]


def hooks(host: PluginHost, name: str) -> Sequence[Callable[..., Any]]:
    """Return one hook's functions of a host's plugins, in calling order, for direct calls on the hot path."""
    return [getattr(plugin, name) for plugin in host.plugins if hasattr(plugin, name)]
