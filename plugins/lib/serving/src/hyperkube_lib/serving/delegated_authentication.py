"""Who sends a request to a server that is not the API server: a certificate says so, or a token the API server knows.

Each way is tried in turn. What proves nothing is refused, also where the anonymous may come in, unless another way
says who it is.
Source: kubernetes apiserver ``pkg/authentication/authenticatorfactory/delegating.go``,
``pkg/authentication/request/union``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from hyperkube_lib.client_certificates import CertificateAuthorities, CertificateRefused, Headers
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_lib.serving.expiring_cache import ExpiringCache

from hyperkube.client.client import Client
from hyperkube.kinds.resources import TOKEN_REVIEWS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, Unauthorized
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import ANONYMOUS, AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP, UserInfo

TOKEN_SECONDS = 10.0


class NamesUsers(Protocol):
    """A front proxy, as its certificate and headers show it."""

    def user(self, chain: Sequence[bytes], headers: Headers, now: datetime) -> UserInfo | None:
        """Return whom a request's headers name, None where they name no user or there is no certificate.

        Raises:
            CertificateRefused: the certificate is not the proxy's.
        """


class DelegatedAuthentication:
    """Tells who sends a request; thread-safe."""

    def __init__(
        self,
        clock: Clock,
        client: Client | None,
        *,
        client_ca_file: str = "",
        front_proxy: NamesUsers | None = None,
        anonymous: bool = True,
        token_seconds: float = TOKEN_SECONDS,
        audiences: Callable[[str], Sequence[str]] = lambda _token: (),
    ) -> None:
        """Take whom to ask.

        Args:
            clock: for how long answers are kept, and whether certificates are in date.
            client: where tokens are reviewed; None: tokens are not looked at.
            client_ca_file: PEM authorities of client certificates; empty: certificates are not looked at.
            front_proxy: whose headers are believed; None: headers name no users.
            anonymous: whether a request without credentials is let in as ``system:anonymous``.
            token_seconds: for how long the answer about a token is good.
            audiences: whom a token must be meant for; none for the API server's own.

        Raises:
            UsageError: the file cannot be read, or holds no certificate.
        """
        self._clock = clock
        self._client = client
        self._authorities = CertificateAuthorities(client_ca_file) if client_ca_file else None
        self._front_proxy = front_proxy
        self._anonymous = anonymous
        self._audiences = audiences
        self._users: ExpiringCache[str, UserInfo | None] = ExpiringCache(clock, lambda _user: token_seconds)

    def authenticate(self, request: HttpRequest) -> UserInfo:
        """Return who sends a request.

        Raises:
            Unauthorized: its certificate or token proves nothing, or it has neither and must.
        """
        refused: CertificateRefused | None = None
        if self._front_proxy is not None and request.certificate:
            try:
                user = self._front_proxy.user(request.certificate, request.lines(), self._clock.now())
            except CertificateRefused as error:
                user, refused = None, error
            if user is not None:
                return user
        if request.certificate and self._authorities is not None:
            try:
                user = self._authorities.user(request.certificate, self._clock.now())
            except CertificateRefused as error:
                user, refused = None, error
            if user is not None:
                return user
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip()
        if self._client is not None and scheme.lower() == "bearer" and token:
            user = self._users.get(token, lambda: self._reviewed(token))
            if user is None:
                raise Unauthorized
            return user
        if refused is not None or not self._anonymous:
            raise Unauthorized from refused
        return UserInfo(ANONYMOUS, "", (UNAUTHENTICATED_GROUP,))

    def _reviewed(self, token: str) -> UserInfo | None:
        """Return whose token it is, None if the API server does not know it.

        Raises:
            Unauthorized: the API server could not be asked.
        """
        assert self._client is not None  # noqa: S101  the only caller looks first
        audiences = [*self._audiences(token)]
        spec: Object = {"token": token, **({"audiences": audiences} if audiences else {})}
        review = {"kind": "TokenReview", "apiVersion": TOKEN_REVIEWS.api_version, "spec": spec}
        try:
            status = self._client.create(TOKEN_REVIEWS, review).get("status") or {}
        except (ApiError, OSError) as error:
            raise Unauthorized from error
        if not status.get("authenticated") or not set(audiences) <= {*(status.get("audiences") or ())}:
            return None
        found = status.get("user") or {}
        extra = {key: tuple(values) for key, values in (found.get("extra") or {}).items()}
        groups = tuple(found.get("groups") or ())
        return _authenticated(UserInfo(found.get("username", ""), found.get("uid", ""), groups, extra))


def _authenticated(user: UserInfo) -> UserInfo:
    """Return the user as a member of the group of all who proved who they are."""
    if AUTHENTICATED_GROUP in user.groups:
        return user
    return UserInfo(user.name, user.uid, (*user.groups, AUTHENTICATED_GROUP), user.extra)
