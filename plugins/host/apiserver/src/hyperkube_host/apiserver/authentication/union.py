"""Who is asking: credentials from the request, the authenticators in order, and a short memory of their answers.

Source: kubernetes apiserver ``pkg/authentication/request`` (union, websocket, anonymous), ``pkg/endpoints/filters``.
"""

from __future__ import annotations

import base64
import binascii
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import Unauthorized
from hyperkube.machinery.users import ANONYMOUS, AUTHENTICATED_GROUP, UserInfo

Authenticate = Callable[..., Authenticated | None]

_SOCKET_TOKEN = "base64url.bearer.authorization.k8s.io."  # noqa: S105 -- a sub-protocol's prefix, no secret
_CACHE_MAX, _LONGEST = 10_000, 16 * 1024
"""Credentials that are remembered, and how many characters those may have."""


def credentials_of(request: HttpRequest) -> Credentials:
    """Return what a request offers as proof of identity."""
    headers = request.lines()
    token, basic = "", None
    authorization = headers.get("authorization", ("",))[0]
    scheme, _, rest = authorization.partition(" ")
    if scheme.lower() == "bearer":
        token = rest.partition(" ")[0]
    elif scheme.lower() == "basic":
        basic = _basic(rest.strip())
    if not token and _is_websocket(request):
        token = _socket_token(request.headers["sec-websocket-protocol"])
    return Credentials(token=token, basic=basic, certificate=request.certificate, headers=headers, path=request.path)


def misplaced_token(headers: Mapping[str, str]) -> bool:
    """Tell whether a bearer token stands behind more than one space, and so is not read.

    Source: kubernetes apiserver ``pkg/authentication/request/bearertoken/bearertoken.go``.
    """
    return headers.get("authorization", "").strip()[:8].lower() == "bearer  "


def _basic(text: str) -> tuple[str, str] | None:
    try:
        name, colon, password = base64.b64decode(text, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (name, password) if colon else None


def _is_websocket(request: HttpRequest) -> bool:
    headers = request.headers
    if "sec-websocket-protocol" not in headers or headers.get("upgrade", "").lower() != "websocket":
        return False
    return "upgrade" in (word.strip() for word in headers.get("connection", "").lower().split(","))


def _socket_token(protocols: str) -> str:
    """Return the token among the sub-protocols, which stands beside one that the connection is to speak.

    One that breaks the rules is no missing token: it is returned as it stands, and no authenticator knows it.
    Source: kubernetes apiserver ``pkg/authentication/request/websocket/protocol.go``.
    """
    names = [protocol.strip() for protocol in protocols.split(",")]
    tokens = [name.removeprefix(_SOCKET_TOKEN) for name in names if name.startswith(_SOCKET_TOKEN)]
    if not tokens or (len(tokens) == 1 and not tokens[0]):
        return ""
    if len(tokens) > 1 or len(names) == 1:
        return _SOCKET_TOKEN
    try:
        return base64.b64decode(tokens[0] + "=" * (-len(tokens[0]) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return _SOCKET_TOKEN


class Authentication:
    """Asks the authenticators; remembers what they allow to be remembered.

    Args:
        authenticators: the ``authn_authenticate`` functions in order, anonymous last.
        clock: for the memory.
        basic: whether an authenticator understands user names and passwords; else they are no credentials at all.
        proxy_headers: in which a front proxy names users: with them, a certificate alone does not say who asks.
    """

    def __init__(
        self,
        authenticators: Sequence[Authenticate],
        clock: Clock,
        *,
        basic: bool = False,
        proxy_headers: Sequence[str] = (),
    ) -> None:
        self._basic = basic
        self._proxy_headers = tuple(name.lower() for name in proxy_headers)
        self._authenticators = tuple(authenticators)
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[tuple[str, tuple[bytes, ...]], tuple[UserInfo, float]] = {}

    def authenticate(self, request: HttpRequest) -> UserInfo:
        """Return the user whom the request's credentials prove.

        Raises:
            Unauthorized: they prove no identity, and requests may not be anonymous.
        """
        known = self.remembered(request)
        if known is not None:
            return known
        credentials = credentials_of(request)
        if not self._basic:
            credentials = replace(credentials, basic=None)
        found = self.identify(credentials)
        if found is None:
            raise Unauthorized
        user = with_authenticated_group(found.user)
        if found.cache_seconds > 0:
            self._remember(request, user, found.cache_seconds)
        return user

    def identify(self, credentials: Credentials) -> Authenticated | None:
        """Return the first identity that an authenticator recognises, None when none does.

        Raises:
            Unauthorized: one found its kind of credential to be wrong, and no other recognised the user.
        """
        refusal: Unauthorized | None = None
        for authenticate in self._authenticators:
            try:
                found = authenticate(credentials=credentials)
            except Unauthorized as error:
                refusal = refusal or error
                continue
            if found is not None:
                if refusal is not None and found.user.name == ANONYMOUS:
                    break
                if found.user.name == ANONYMOUS and (credentials.token or ""):
                    break
                return found
        if refusal is not None:
            raise Unauthorized from refusal
        return None

    def review(self, credentials: Credentials) -> Authenticated | None:
        """Return whom a token under review proves, with the group that every such user is in.

        Raises:
            Unauthorized: the token is one of ours and not good.
        """
        try:
            found = self.identify(credentials)
        except Unauthorized as error:  # a review tells why, unlike the answer to a request
            raise error.__cause__ or error  # noqa: B904 -- it is the cause itself
        if found is None or found.user.name == ANONYMOUS:
            return None
        return replace(found, user=with_authenticated_group(found.user))

    def remembered(self, request: HttpRequest) -> UserInfo | None:
        """Return the user of credentials that were checked a moment ago; never asks an authenticator."""
        known = self.remembered_until(request)
        return known[0] if known is not None else None

    def remembered_until(self, request: HttpRequest) -> tuple[UserInfo, float] | None:
        """Return the same user, and the monotonic second at which the credentials have to be checked again."""
        known = self._known.get(_cache_key(request))
        if known is None or self._is_proxied(request):
            return None
        user, until = known
        if user.name == ANONYMOUS and "sec-websocket-protocol" in request.headers:
            return None  # a token may stand there, which the key of the memory does not hold
        return known if until > self._clock.monotonic() else None

    def _is_proxied(self, request: HttpRequest) -> bool:
        return bool(request.certificate) and any(name in request.headers for name in self._proxy_headers)

    def _remember(self, request: HttpRequest, user: UserInfo, seconds: float) -> None:
        if request.repeated or request.headers.get("sec-websocket-protocol") or self._is_proxied(request):
            return
        if len(request.headers.get("authorization", "")) > _LONGEST:
            return
        # The lock is for writers: clearing and adding are two steps. Readers need none, as they look up once.
        with self._lock:
            if len(self._known) >= _CACHE_MAX:
                self._known.clear()
            self._known[_cache_key(request)] = (user, self._clock.monotonic() + seconds)


def _cache_key(request: HttpRequest) -> tuple[str, tuple[bytes, ...]]:
    return request.headers.get("authorization", ""), request.certificate[:1]


def with_authenticated_group(user: UserInfo) -> UserInfo:
    """Return the user as a member of ``system:authenticated``, unless anonymous."""
    if user.name == ANONYMOUS or AUTHENTICATED_GROUP in user.groups:
        return user
    return replace(user, groups=(*user.groups, AUTHENTICATED_GROUP))
