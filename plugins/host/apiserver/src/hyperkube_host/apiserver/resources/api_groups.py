"""Loads the plugins of the API groups."""

from __future__ import annotations

from hyperkube_host.apiserver.plugins import ContextOf

from hyperkube.hookspecs import api
from hyperkube.hookspecs.api import ApiHooks
from hyperkube.plugin import PluginHost, load
from hyperkube.plugin.defaults import arranged
from hyperkube.plugin.loader import installed


def load_api(context: ContextOf) -> PluginHost[ApiHooks]:
    """Load all installed API groups, in the bundle's order and then by name."""
    names = arranged("api", sorted(installed("api")))
    return load("api", names, api, lambda plugin: context("api", plugin))
