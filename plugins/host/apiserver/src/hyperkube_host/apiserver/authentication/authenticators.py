"""Loads the authenticators that the flags switch on, in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_host.apiserver.plugins import ContextOf

from hyperkube.hookspecs import authn
from hyperkube.hookspecs.authn import AuthnHooks
from hyperkube.plugin import PluginHost, load
from hyperkube.plugin.defaults import arranged
from hyperkube.plugin.settings import PluginSettings


def load_authn(settings: PluginSettings, more: Sequence[str], context: ContextOf) -> PluginHost[AuthnHooks]:
    """Load the authenticators that their flags switch on and those that are named, in the bundle's order.

    Args:
        settings: knows which flags switch on what.
        more: the value of ``--authentication-plugins``: authenticators without a flag that switches them on.
        context: makes their contexts.

    Raises:
        PluginNotFound: a name of `more` is not installed.
    """
    names = settings.switched_on("authn")
    names += [name for name in more if name not in names]
    return load("authn", arranged("authn", names), authn, lambda plugin: context("authn", plugin))
