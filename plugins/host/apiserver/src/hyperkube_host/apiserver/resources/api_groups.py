"""Loads the plugins of the API groups."""

from __future__ import annotations

from hyperkube_host.apiserver.plugins import ContextOf

from hyperkube.hookspecs import api
from hyperkube.hookspecs.api import ApiHooks
from hyperkube.plugin import PluginHost, load
from hyperkube.plugin.defaults import arranged, enabled_by_default
from hyperkube.plugin.loader import installed


def load_api(context: ContextOf, *, legacy: bool = True) -> PluginHost[ApiHooks]:
    """Load all installed API groups, in the bundle's order and then by name.

    Args:
        context: makes the context of a plugin.
        legacy: whether versions that Kubernetes has removed may be served; else those plugins are left out of which the
            bundle says that they have no others.
    """
    left_out = () if legacy else enabled_by_default("api", "legacy") or ()
    names = arranged("api", sorted(installed("api").keys() - set(left_out)))
    return load("api", names, api, lambda plugin: context("api", plugin))
