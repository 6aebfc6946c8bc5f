"""SignedNames: a token that names a user, signed with a key that only we and the gateway have.

``signed.NAME.SIGNATURE``: the signature is the HMAC-SHA256 of the name in hexadecimal, with the key in the file of the
environment variable ``SIGNED_NAMES_KEY_FILE``.
"""

import hashlib
import hmac
import os
from pathlib import Path

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.errors import Unauthorized, UsageError
from hyperkube.machinery.users import AUTHENTICATED_GROUP, UserInfo
from hyperkube.plugin import Plugin, PluginContext

_PREFIX = "signed."


def sign(key: bytes, name: str) -> str:
    """Return the token that names a user."""
    return f"{_PREFIX}{name}.{hmac.new(key, name.encode(), hashlib.sha256).hexdigest()}"


class SignedNames(Plugin):
    """Names whom a signed token names; members of ``signed:names``."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        path = os.environ.get("SIGNED_NAMES_KEY_FILE", "")
        try:
            self._key = Path(path).read_bytes().strip()
        except OSError as error:
            raise UsageError(f"cannot read SIGNED_NAMES_KEY_FILE {path!r}: {error.strerror}") from error

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Check the signature in constant time; tokens of another kind are left to other authenticators."""
        if not credentials.token.startswith(_PREFIX) or credentials.audiences:
            return None
        name = credentials.token.removeprefix(_PREFIX).rpartition(".")[0]
        if not name or not hmac.compare_digest(credentials.token.encode(), sign(self._key, name).encode()):
            raise Unauthorized
        return Authenticated(UserInfo(name, "", ("signed:names", AUTHENTICATED_GROUP)))
