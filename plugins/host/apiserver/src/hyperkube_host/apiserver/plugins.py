"""Which plugins an API server loads: read off its flags, in the order that calling them needs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hyperkube_host.apiserver.admission_settings import settings_of
from hyperkube_host.apiserver.authentication import chosen
from hyperkube_host.apiserver.authorizers import Chosen, authorizers_of
from hyperkube_host.apiserver.encryption.configuration import HelpedProvider

from hyperkube.hookspecs import admission, api, authn, authz, storage
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import Plugin, PluginContext, PluginHost, load
from hyperkube.plugin.configuration import WrongFields
from hyperkube.plugin.defaults import arranged, enabled_by_default
from hyperkube.plugin.loader import installed

ContextOf = Callable[[str, str], PluginContext]
"""Makes the context of a plugin: (family, name)."""

_BACKENDS = {"": "etcd", "etcd2": "etcd", "etcd3": "etcd"}
_FIRST_OF_THE_LAST = "MutatingAdmissionPolicy"
"""Plugins that the bundle does not know run before this one: before the policies and webhooks."""


def listed(options: Mapping[str, Any], name: str) -> list[str]:
    """Return a flag that is a list, given as a list or as text."""
    value = options.get(name)
    if not value:
        return []
    if isinstance(value, str):
        return [item for item in value.split(",") if item]
    return [str(item) for item in value]


def load_storage(options: Mapping[str, Any], context: ContextOf) -> PluginHost:
    """Load the storage backend that ``--storage-backend`` names."""
    wanted = str(options.get("storage-backend") or "")
    name = _BACKENDS.get(wanted, wanted)
    return load("storage", [name], storage, lambda plugin: context("storage", plugin))


def helped_provider(context: ContextOf, hosts: list[PluginHost]) -> HelpedProvider:
    """Return what makes the encryption providers that plugins have: the storage plugin of the provider's name does.

    Each is loaded when it is first needed, and its host added to `hosts`.
    """
    loaded: dict[str, PluginHost] = {}

    def make(provider: str, settings: Mapping[str, Any]) -> storage.ValueProvider | None:
        if provider not in loaded:
            if provider not in installed("storage"):
                return None
            loaded[provider] = load("storage", [provider], storage, lambda plugin: context("storage", plugin))
            hosts.append(loaded[provider])
        made: storage.ValueProvider | None = loaded[provider].hook.storage_encrypt(provider=provider, settings=settings)
        return made

    return make


def load_api(context: ContextOf) -> PluginHost:
    """Load all installed API groups, the core group first."""
    names = sorted(installed("api"), key=lambda name: (name != "core", name))
    return load("api", names, api, lambda plugin: context("api", plugin))


def load_authn(options: Mapping[str, Any], context: ContextOf) -> PluginHost:
    """Load the authenticators that the flags switch on, anonymous last.

    An authenticator that a flag asks for but nobody installed is fatal, except anonymous, which is on by default.
    """
    available = installed("authn")
    names = [name for name in chosen(options) if name in available or name != "Anonymous"]
    return load("authn", names, authn, lambda plugin: context("authn", plugin))


def load_authz(options: Mapping[str, Any], context: ContextOf) -> PluginHost:
    """Load the authorizers of ``--authorization-mode`` or of ``--authorization-config``, in its order."""
    wanted = authorizers_of(options, listed(options, "authorization-mode"))
    return PluginHost("authz", authz, [(chosen.name, build_authorizer(chosen, context)) for chosen in wanted])


def build_authorizer(wanted: Chosen, context: ContextOf) -> Plugin:
    """Build one authorizer under its own name, with its own settings.

    Raises:
        UsageError: it is not installed, or its settings are wrong.
    """

    def own(plugin: str) -> PluginContext:
        given = context("authz", plugin)
        return replace(given, name=wanted.name, settings={**given.settings, **wanted.settings})

    try:
        return load("authz", [wanted.plugin], authz, own).plugins[0]
    except WrongFields as error:
        raise error.below(wanted.path) from error


def load_admission(options: Mapping[str, Any], context: ContextOf, logger: logging.Logger) -> PluginHost:
    """Load the admission plugins in the order of the chain, with the settings of their configuration file."""
    names = admission_names(options, logger)
    settings = settings_of(str(options.get("admission-control-config-file") or ""), names)

    def own(name: str) -> PluginContext:
        given = context("admission", name)
        return replace(given, settings={**given.settings, **settings.get(name, {})})

    return load("admission", names, admission, own)


def admission_names(options: Mapping[str, Any], logger: logging.Logger) -> list[str]:
    """Return the enabled admission plugins in order.

    ``--admission-control`` gives names and order itself. Else: the default ones plus the enabled minus the disabled
    ones, in the bundle's order; those the bundle does not know come before the policies and webhooks.

    Raises:
        UsageError: a name that is given is not installed.
    """
    exact = listed(options, "admission-control")
    if exact:
        return exact
    available = installed("admission")
    enabled, disabled = listed(options, "enable-admission-plugins"), listed(options, "disable-admission-plugins")
    unknown = [name for name in enabled if name not in available]
    if unknown:
        known = ", ".join(sorted(available)) or "none"
        raise UsageError(f"enable-admission-plugins plugin {unknown[0]!r} is unknown (installed: {known})")
    default_on = enabled_by_default("admission")
    if default_on is None:
        logger.info("no bundle is installed: only admission plugins that are enabled by name run")
    wanted = {name for name in default_on or () if name in available and name not in disabled} | set(enabled)
    return arranged("admission", wanted, before=_FIRST_OF_THE_LAST)


def hooks(host: PluginHost, name: str) -> Sequence[Callable[..., Any]]:
    """Return one hook's functions of a host's plugins, in calling order, for direct calls on the hot path."""
    return [getattr(plugin, name) for plugin in host.plugins if hasattr(plugin, name)]
