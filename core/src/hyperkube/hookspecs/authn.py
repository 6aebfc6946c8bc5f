"""Authentication: the plugin that recognises the credentials names the user.

The authenticators are asked in order; the first that returns an identity ends the search. One that does not know
the kind of credential returns None. One that knows it and finds it wrong raises `Unauthorized`: the others are still
asked, and only when none succeeds the request is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.users import UserInfo


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request offers as proof of identity.

    Attributes:
        token: the bearer token (from the header or the WebSocket sub-protocol), or empty.
        basic: (user, password) of basic authentication, or None.
        certificate: the DER client certificate chain, not yet verified, leaf first; empty without one.
        headers: the values of the request's headers, one per line, by lower-case names, for front proxies.
        audiences: what a token must be meant for; empty means the server's own.
        path: what is asked for, where it decides whether anonymous requests are allowed; empty for reviews.
    """

    token: str = ""
    basic: tuple[str, str] | None = None
    certificate: tuple[bytes, ...] = ()
    headers: Mapping[str, Sequence[str]] | None = None
    audiences: tuple[str, ...] = ()
    path: str = ""


@dataclass(frozen=True, slots=True)
class Authenticated:
    """A recognised user; `cache_seconds` > 0 lets the edge reuse the answer for equal credentials.

    `audiences` are those, among the ones that were asked for, for which the credential is good; empty where it says
    nothing of audiences: then it is good for the server's own.
    """

    user: UserInfo
    audiences: tuple[str, ...] = ()
    cache_seconds: float = 0.0


@runtime_checkable
class TakesPasswords(Protocol):
    """An authenticator of users and passwords; without one that is enabled, these are no credentials at all."""

    takes_passwords: Literal[True]
    """Always true."""


@hookspec(firstresult=False)
def authn_authenticate(credentials: Credentials) -> Authenticated | None:
    """Name the user whom the credentials prove.

    Called: for every request whose credentials are not in the edge's cache, on a worker thread.
    Order: that of the configuration, request header first and anonymous last.
    Returns: the identity, or None if this kind of credential is not present.
    Raises: `Unauthorized` if it is present and wrong, expired or revoked.
    Must: compare secrets in constant time; never log a credential; never return a user for an empty token.
    """


class AuthnHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def authn_authenticate(self, *, credentials: Credentials) -> list[Authenticated]:
        """Call `authn_authenticate` of all plugins."""
