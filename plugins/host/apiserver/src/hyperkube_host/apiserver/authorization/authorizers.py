"""Loads the authorizers of ``--authorization-mode`` or of an AuthorizationConfiguration."""

from __future__ import annotations

import logging
from dataclasses import replace

from hyperkube_host.apiserver.authorization.configuration import AuthorizerConfiguration, authorizers_of
from hyperkube_host.apiserver.options import AuthorizationOptions
from hyperkube_host.apiserver.plugins import ContextOf

from hyperkube.hookspecs import authz
from hyperkube.hookspecs.authz import AuthzHooks
from hyperkube.plugin import Plugin, PluginContext, PluginHost, load
from hyperkube.plugin.configuration import WrongFields

_log = logging.getLogger("hyperkube.apiserver")


def load_authz(options: AuthorizationOptions, context: ContextOf) -> PluginHost[AuthzHooks]:
    """Load the authorizers of ``--authorization-mode`` or of ``--authorization-config``, in its order.

    Where nothing is chosen and no default is installed there is no authorizer, and requests beyond the open paths are
    refused: a server of few distributions starts, and is safe.
    """
    wanted = authorizers_of(options)
    if not wanted:
        _log.warning("there is no authorizer: requests are refused but for the always allowed paths")
    return PluginHost("authz", authz, [(chosen.name, build_authorizer(chosen, context)) for chosen in wanted])


def build_authorizer(wanted: AuthorizerConfiguration, context: ContextOf) -> Plugin:
    """Build one authorizer under its own name, with its own settings.

    Raises:
        UsageError: it is not installed, or its settings are wrong.
    """

    def own(plugin: str) -> PluginContext:
        given = context("authz", plugin)
        return replace(given, name=wanted.name, settings=wanted.settings or given.settings)

    try:
        return load("authz", [wanted.plugin], authz, own).plugins[0]
    except WrongFields as error:
        raise error.below(wanted.path) from error
