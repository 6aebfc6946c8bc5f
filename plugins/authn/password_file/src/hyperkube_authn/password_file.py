"""PasswordFile: user names and passwords of HTTP basic authentication, listed in a file.

Each line of the CSV file is ``password,user,uid`` and optionally ``"group1,group2"``. The passwords live as long as
the process and cannot be revoked.
Source: kubernetes 1.18 apiserver ``pkg/authentication/password/passwordfile``.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
from pathlib import Path

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.errors import Unauthorized, UsageError
from hyperkube.machinery.users import AUTHENTICATED_GROUP, UserInfo
from hyperkube.plugin import Plugin, PluginContext

_OPTION = "basic-auth-file"
_CACHE_SECONDS = 3600.0


def _digest(password: str) -> bytes:
    return hashlib.sha256(password.encode()).digest()


_NOBODYS = _digest("")


def read_passwords(path: str) -> dict[str, tuple[bytes, UserInfo]]:
    """Return digest and user by user name; of equal names the last counts.

    Raises:
        UsageError: the file cannot be read, or a line has fewer than three columns or no password.
    """
    users: dict[str, tuple[bytes, UserInfo]] = {}
    try:
        with Path(path).open(newline="", encoding="utf-8") as lines:
            rows = [row for row in csv.reader(lines, skipinitialspace=True) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"cannot read password file {path!r}: {error}") from error
    for row in rows:
        if len(row) < 3:
            raise UsageError(
                f"password file '{path}' must have at least 3 columns (password, user name, user uid), found {len(row)}"
            )
        password, name, uid = row[:3]
        if not password:
            raise UsageError(f"password file {path!r} has a line without a password, for user {name!r}")
        groups = row[3].split(",") if len(row) > 3 else []
        users[name] = _digest(password), UserInfo(name, uid, (*groups, AUTHENTICATED_GROUP))
    return users


class PasswordFile(Plugin):
    """Names the user whose password stands in ``--basic-auth-file``."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        path = str(context.options.get(_OPTION) or "")
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
