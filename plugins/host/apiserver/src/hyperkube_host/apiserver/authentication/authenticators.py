"""Loads the authenticators that the flags switch on, in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_host.apiserver.plugins import ContextOf

from hyperkube.hookspecs import authn
from hyperkube.hookspecs.authn import AuthnHooks
from hyperkube.plugin import PluginHost, load
from hyperkube.plugin.loader import installed

FLAGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("RequestHeader", ("requestheader-client-ca-file",)),
    ("X509", ("client-ca-file",)),
    ("PasswordFile", ("basic-auth-file",)),
    ("Keystone", ("experimental-keystone-url",)),
    ("TokenFile", ("token-auth-file",)),
    ("ServiceAccount", ("service-account-key-file", "service-account-signing-key-file")),
    ("BootstrapToken", ("enable-bootstrap-token-auth",)),
    ("OIDC", ("oidc-issuer-url", "authentication-config")),
    ("Webhook", ("authentication-token-webhook-config-file",)),
    ("AnyToken", ("insecure-allow-any-token",)),
    ("Anonymous", ("anonymous-auth",)),
)
"""Which flags, any of them, switch which authenticator on, in the order in which they are asked.

Source: kubernetes ``pkg/kubeapiserver/authenticator/config.go``.
"""

_LAST = "Anonymous"

BASIC = frozenset({"PasswordFile", "Keystone"})
"""Who understands user names and passwords."""


def chosen(options: Mapping[str, Any]) -> list[str]:
    """Return the names of the authenticators that the flags switch on.

    Those of ``--authentication-plugins``, which have no flag of their own, are asked after all others but the last.
    """
    defaults: dict[str, Any] = {"anonymous-auth": True}
    names = [name for name, flags in FLAGS if any(options.get(option, defaults.get(option)) for option in flags)]
    given = options.get("authentication-plugins") or ()
    more = [name for name in (given.split(",") if isinstance(given, str) else given) if name not in names]
    if _LAST in names:
        return [*names[:-1], *more, _LAST]
    return [*names, *more]


def load_authn(options: Mapping[str, Any], context: ContextOf) -> PluginHost[AuthnHooks]:
    """Load the authenticators that the flags switch on, anonymous last.

    An authenticator that a flag asks for but is not installed is fatal, except anonymous, which is on by default.
    """
    available = installed("authn")
    names = [name for name in chosen(options) if name in available or name != "Anonymous"]
    return load("authn", names, authn, lambda plugin: context("authn", plugin))
