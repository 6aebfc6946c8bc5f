"""Anonymous: a request without credentials has a user too, and authorization decides what that user may do.

An AuthenticationConfiguration file may turn it off, or allow it for some paths only (health checks). The file is looked
at again when it changes; one that is wrong leaves everything as it was.
Source: kubernetes apiserver ``pkg/authentication/request/anonymous/anonymous.go``.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record
from hyperkube.machinery.users import ANONYMOUS, UNAUTHENTICATED_GROUP, UserInfo
from hyperkube.plugin import Plugin, PluginContext
from hyperkube.plugin.configuration import check_keys, read_configuration

_NOBODY = Authenticated(UserInfo(ANONYMOUS, "", (UNAUTHENTICATED_GROUP,)), cache_seconds=3600.0)
_VERSIONS = ("apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1", "apiserver.config.k8s.io/v1alpha1")


@dataclass(frozen=True, slots=True)
class Rule:
    """Whether anonymous requests are allowed, and for which paths, all if none."""

    on: bool
    paths: frozenset[str] = frozenset()


def rule_of(path: str, *, flag_given: bool) -> Rule:
    """Return the rule of a file; one that says nothing allows all.

    Raises:
        UsageError: the file is wrong, or the flag says something too.
    """
    found = read_configuration(path, "AuthenticationConfiguration", _VERSIONS)
    if found.get("anonymous") is None:
        return Rule(not flag_given)
    if flag_given:
        raise UsageError("anonymous is given both by the authentication-config file and by --anonymous-auth")
    table = check_keys(found["anonymous"], ("enabled", "conditions"), "anonymous")
    rows = [check_keys(row, ("path",), "anonymous.conditions") for row in table.get("conditions") or ()]
    if rows and not table.get("enabled"):
        raise UsageError("anonymous.conditions: enabled should be set to true when conditions are defined")
    return Rule(bool(table.get("enabled")), frozenset(str(row.get("path") or "") for row in rows))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None  # gone for a moment while it is replaced, or for good: go on with what was good
    return status.st_mtime_ns, status.st_size, status.st_ino


class Settings(Record):
    """Whether requests may be anonymous; the file may say that only for some paths."""

    anonymous_auth: bool = True
    authentication_config: str = ""


class Anonymous(Plugin):
    """Names requests without a token ``system:anonymous``; ``--anonymous-auth=false`` turns it off.

    A wrong token is refused, not taken for none: that would hide the mistake.
    """

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = self.settings(Settings)
        self._flag = settings.anonymous_auth
        self._path = settings.authentication_config
        self._lock = threading.Lock()
        self._stamp = _stamp(self._path) if self._path else None
        self._rule = rule_of(self._path, flag_given=not self._flag) if self._path else Rule(self._flag)

    def _current(self) -> Rule:
        stamp = _stamp(self._path)
        if stamp is None or stamp == self._stamp:
            return self._rule
        with self._lock:
            if stamp != self._stamp:
                self._stamp = stamp
                try:
                    self._rule = rule_of(self._path, flag_given=not self._flag)
                except UsageError as error:
                    self.context.logger.warning("anonymous requests are treated as before: %s", error)
        return self._rule

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Name who has shown nothing."""
        if credentials.token or credentials.basic:
            return None
        if not self._path:
            return _NOBODY if self._rule.on else None
        rule = self._current()
        if not rule.on or (rule.paths and credentials.path not in rule.paths):
            return None
        return replace(_NOBODY, cache_seconds=0.0)
