"""Anonymous: who shows no credentials is somebody too, and authorization decides what nobody in particular may do.

An AuthenticationConfiguration file may turn it off, or allow it for some paths only (health checks).
Source: kubernetes apiserver ``pkg/authentication/request/anonymous/anonymous.go``.
"""

from __future__ import annotations

from dataclasses import replace

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import ANONYMOUS, UNAUTHENTICATED_GROUP, UserInfo
from hyperkube.plugin import Plugin, PluginContext
from hyperkube.plugin.configuration import check_keys, read_configuration

_NOBODY = Authenticated(UserInfo(ANONYMOUS, "", (UNAUTHENTICATED_GROUP,)), cache_seconds=3600.0)
_VERSIONS = ("apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1", "apiserver.config.k8s.io/v1alpha1")


def conditions_of(path: str, *, flag_given: bool) -> tuple[bool, tuple[str, ...]]:
    """Return whether the file allows anonymous requests (also by saying nothing), and for which paths, all if none.

    Raises:
        UsageError: the file is wrong, or the flag says something too.
    """
    found = read_configuration(path, "AuthenticationConfiguration", _VERSIONS)
    if found.get("anonymous") is None:
        return True, ()
    if flag_given:
        raise UsageError("anonymous is given both by the authentication-config file and by --anonymous-auth")
    table = check_keys(found["anonymous"], ("enabled", "conditions"), "anonymous")
    rows = [check_keys(row, ("path",), "anonymous.conditions") for row in table.get("conditions") or ()]
    if rows and not table.get("enabled"):
        raise UsageError("anonymous.conditions: enabled should be set to true when conditions are defined")
    return bool(table.get("enabled")), tuple(str(row.get("path") or "") for row in rows)


class Anonymous(Plugin):
    """Names requests without a token ``system:anonymous``; ``--anonymous-auth=false`` turns it off.

    A wrong token is refused, not taken for none: that would hide the mistake.
    """

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._on, self._paths = bool(context.options.get("anonymous-auth", True)), frozenset[str]()
        path = str(context.options.get("authentication-config") or "")
        if path:
            allowed, paths = conditions_of(path, flag_given=not self._on)
            self._on, self._paths = self._on and allowed, frozenset(paths)

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Name who has shown nothing."""
        if credentials.token or credentials.basic or not self._on:
            return None
        if not self._paths:
            return _NOBODY
        return replace(_NOBODY, cache_seconds=0.0) if credentials.path in self._paths else None
