"""AnyToken: believe whatever a token says, for tests on a machine of one's own.

``user/group1,group2`` names a user and the groups. Everybody can be everybody, so it takes a flag that says what it
is: ``--insecure-allow-any-token``.
Source: kubernetes 1.5 ``plugin/pkg/auth/authenticator/token/anytoken/anytoken.go``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.record import Record
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin, PluginContext


class Settings(Record):
    """Whether any token is believed."""

    insecure_allow_any_token: bool = False


class AnyToken(Plugin):
    """Names the user that a token claims to be."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._settings = self.settings(Settings)

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Split the token at its last slash."""
        if not credentials.token or not self._settings.insecure_allow_any_token:
            return None
        name, slash, groups = credentials.token.rpartition("/")
        if not slash:
            name, groups = credentials.token, ""
        if not name:
            return None
        return Authenticated(UserInfo(name, "", tuple(groups.split(",")) if groups else ()))
