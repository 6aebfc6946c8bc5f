"""PasswordFile: user names and passwords of HTTP basic authentication, listed in a file.

Each line of the CSV file is ``password,user,uid`` and optionally ``"group1,group2"``. The passwords live as long as
the process and cannot be revoked.
Source: kubernetes 1.18 apiserver ``pkg/authentication/password/passwordfile``.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import ClassVar, Literal

from hyperkube_lib.user_files import read_users

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.errors import Unauthorized
from hyperkube.machinery.record import Record
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin, PluginContext

_CACHE_SECONDS = 3600.0


def _digest(password: str) -> bytes:
    return hashlib.sha256(password.encode()).digest()


_NOBODYS = _digest("")


def read_passwords(path: str) -> dict[str, tuple[bytes, UserInfo]]:
    """Return digest and user by user name; of equal names the last counts.

    Raises:
        UsageError: the file cannot be read, or a line has fewer than three columns or no password.
    """
    return {user.name: (_digest(password), user) for password, user in read_users(path, "password")}


class Settings(Record):
    """The file with the passwords."""

    basic_auth_file: str = ""


class PasswordFile(Plugin):
    """Names the user whose password stands in ``--basic-auth-file``."""

    takes_passwords: ClassVar[Literal[True]] = True

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        path = self.settings(Settings).basic_auth_file
        self._users = read_passwords(path) if path else {}

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Compare digests, also for a user that is not listed, so that the time taken tells nothing."""
        if credentials.basic is None or not self._users:
            return None
        name, password = credentials.basic
        known, user = self._users.get(name, (_NOBODYS, None))
        if not hmac.compare_digest(known, _digest(password)) or user is None:
            raise Unauthorized
        return Authenticated(user, credentials.audiences, _CACHE_SECONDS)
