"""TokenFile: static bearer tokens, for bootstrapping and tests.

Each line of the CSV file is ``token,user,uid`` and optionally ``"group1,group2"``. The tokens live as long as the
process and cannot be revoked.
Source: kubernetes apiserver ``pkg/authentication/token/tokenfile``.
"""

from __future__ import annotations

import hashlib
import hmac

from hyperkube_lib.user_files import read_users

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.record import Record
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin, PluginContext

_CACHE_SECONDS = 3600.0


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def read_tokens(path: str) -> dict[bytes, UserInfo]:
    """Return the users of a token file by the digest of their token; of equal tokens the first counts.

    Raises:
        UsageError: the file cannot be read, or a line has fewer than three columns or no token.
    """
    users: dict[bytes, UserInfo] = {}
    for token, user in read_users(path, "token"):
        users.setdefault(_digest(token), user)
    return users


class Settings(Record):
    """The file with the tokens."""

    token_auth_file: str = ""


class TokenFile(Plugin):
    """Names the user of a token that stands in ``--token-auth-file``."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        path = self.settings(Settings).token_auth_file
        self._users = read_tokens(path) if path else {}

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Look the token up by its digest, so that neither look-up nor comparison tells how much of it was right."""
        if not credentials.token:
            return None
        digest = _digest(credentials.token)
        for known, user in self._users.items():
            if hmac.compare_digest(known, digest):
                return Authenticated(user, (), _CACHE_SECONDS)
        return None
