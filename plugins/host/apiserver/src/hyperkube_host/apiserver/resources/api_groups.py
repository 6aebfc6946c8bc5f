"""Loads the plugins of the API groups."""

from __future__ import annotations

from hyperkube_host.apiserver.plugins import ContextOf

from hyperkube.hookspecs import api
from hyperkube.hookspecs.api import ApiHooks
from hyperkube.plugin import PluginHost, load
from hyperkube.plugin.loader import installed


def load_api(context: ContextOf) -> PluginHost[ApiHooks]:
    """Load all installed API groups, the core group first."""
    names = sorted(installed("api"), key=lambda name: (name != "core", name))
    return load("api", names, api, lambda plugin: context("api", plugin))
