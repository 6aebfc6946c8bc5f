"""Who may use the HTTPS port of a server that is not the API server: the API server is asked who it is, and whether.

A client certificate of the given authority or a bearer token says who; whoever offers neither is anonymous. A few paths
are open to all, ``system:masters`` may do anything, and about everything else a SubjectAccessReview is posted. Answers
are kept for ten seconds.

Sources: kubernetes apiserver ``pkg/server/options/authentication.go`` and ``authorization.go`` (the Delegating options
and their defaults), ``pkg/endpoints/handlers/responsewriters/errors.go`` (the texts).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from hyperkube_lib.client_certificates import CertificateAuthorities, CertificateRefused
from hyperkube_lib.serving.exchange import Answer, Handler, HttpRequest, Response
from hyperkube_lib.serving.wire import plain, refusal

from hyperkube.client.client import Client
from hyperkube.kinds.resources import SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, EmptyDetails, Forbidden, HyperkubeError, Unauthorized
from hyperkube.machinery.users import ANONYMOUS, AUTHENTICATED_GROUP, PRIVILEGED_GROUP, UNAUTHENTICATED_GROUP, UserInfo

KEPT_SECONDS = 10.0
OPEN_PATHS = ("/healthz", "/readyz", "/livez")
_MOST_KEPT = 1000

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class AccessUnknown(HyperkubeError):
    """The API server could not be asked whether a request is allowed: ask it again later."""


class DelegatedAccess:
    """Tells who sends a request, and whether they may; thread-safe."""

    def __init__(
        self,
        clock: Clock,
        *,
        authenticate_with: Client | None,
        authorize_with: Client | None,
        client_ca_file: str = "",
        open_paths: Sequence[str] = OPEN_PATHS,
    ) -> None:
        """Take whom to ask.

        Args:
            clock: for how long answers are kept, and whether certificates are in date.
            authenticate_with: where tokens are reviewed; None: tokens are not looked at.
            authorize_with: where access is reviewed; None: only open paths and ``system:masters`` are allowed.
            client_ca_file: PEM authorities of client certificates; empty: certificates are not looked at.
            open_paths: allowed to everybody; one that ends in ``*`` stands for all that begin with it.
        """
        self._clock = clock
        self._reviewer, self._judge = authenticate_with, authorize_with
        self._authorities = CertificateAuthorities(client_ca_file) if client_ca_file else None
        self._open = frozenset(path.strip("/") for path in open_paths if not path.endswith("*"))
        self._open_below = tuple(path[:-1].lstrip("/") for path in open_paths if path.endswith("*"))
        self._users: _Kept[str, UserInfo | None] = _Kept(clock)
        self._decisions: _Kept[tuple[str, ...], bool] = _Kept(clock)

    def check(self, request: HttpRequest) -> UserInfo:
        """Return who sends a request, if they may.

        Raises:
            Unauthorized: their certificate or token proves nothing.
            Forbidden: they may not.
            AccessUnknown: the API server could not be asked.
        """
        user = self._authenticate(request)
        self._authorize(user, request.method.lower(), request.path)
        return user

    def _authenticate(self, request: HttpRequest) -> UserInfo:
        if request.certificate and self._authorities is not None:
            found = _named_by(self._authorities, request.certificate, self._clock)
            if found is not None:
                return found
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if self._reviewer is not None and scheme.lower() == "bearer" and token.strip():
            user = self._users.get(token.strip(), self._reviewed)
            if user is None:
                raise Unauthorized
            return user
        return UserInfo(ANONYMOUS, "", (UNAUTHENTICATED_GROUP,))

    def _reviewed(self, token: str) -> UserInfo | None:
        review = {"kind": "TokenReview", "apiVersion": TOKEN_REVIEWS.api_version, "spec": {"token": token}}
        try:
            status = self._reviewer.create(TOKEN_REVIEWS, review).get("status") or {}  # type: ignore[union-attr]  # asked by the caller
        except (ApiError, OSError) as error:
            raise Unauthorized from error
        if not status.get("authenticated"):
            return None
        found = status["user"]
        groups = tuple(found.get("groups") or ())
        extra = () if AUTHENTICATED_GROUP in groups else (AUTHENTICATED_GROUP,)
        return UserInfo(found["username"], found.get("uid", ""), (*groups, *extra))

    def _authorize(self, user: UserInfo, verb: str, path: str) -> None:
        if PRIVILEGED_GROUP in user.groups or self._is_open(path):
            return
        key = (user.name, user.uid, *user.groups, "", verb, path)
        if self._judge is None or not self._decisions.get(key, lambda _key: self._allowed(user, verb, path)):
            message = f'forbidden: User "{user.name}" cannot {verb} path "{path}"'
            raise Forbidden(message, details=EmptyDetails())

    def _is_open(self, path: str) -> bool:
        bare = path.strip("/")
        return bare in self._open or (bool(self._open_below) and bare.startswith(self._open_below))

    def _allowed(self, user: UserInfo, verb: str, path: str) -> bool:
        spec = {
            "user": user.name,
            "uid": user.uid,
            "groups": list(user.groups),
            "nonResourceAttributes": {"path": path, "verb": verb},
        }
        review = {"kind": "SubjectAccessReview", "apiVersion": SUBJECT_ACCESS_REVIEWS.api_version, "spec": spec}
        try:
            answer = self._judge.create(SUBJECT_ACCESS_REVIEWS, review)  # type: ignore[union-attr]  # asked by the caller
        except (ApiError, OSError) as error:
            raise AccessUnknown(str(error)) from error
        return bool((answer.get("status") or {}).get("allowed"))


class Guarded:
    """A handler behind a check of who asks; a `Handler`."""

    def __init__(self, inner: Handler, access: DelegatedAccess) -> None:
        self._inner = inner
        self._access = access

    def handle(self, request: HttpRequest) -> Answer:
        """Answer whom the check lets through."""
        try:
            self._access.check(request)
        except (Unauthorized, Forbidden) as error:
            return refusal(error)
        except AccessUnknown as error:
            return plain(500, f'Internal Server Error: "{request.path}": {error}')
        return self._inner.handle(request)  # type: ignore[return-value]  # nothing inside waits for its turn

    def hot(self, request: HttpRequest) -> Response | None:
        """The check may have to ask, so nothing is answered on the loop."""
        del request
        return None

    def is_long_running(self, request: HttpRequest) -> bool:
        """Tell what the inner handler tells."""
        return self._inner.is_long_running(request)


class _Kept(Generic[Key, Value]):
    """Answers by question, for ten seconds each; thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rows: dict[Key, tuple[float, Value]] = {}

    def get(self, key: Key, ask: Callable[[Key], Value]) -> Value:
        """Return the kept answer, or ask and keep it; what `ask` raises is not kept."""
        now = self._clock.monotonic()
        with self._lock:
            row = self._rows.get(key)
        if row is not None and now - row[0] < KEPT_SECONDS:
            return row[1]
        value = ask(key)
        with self._lock:
            if len(self._rows) >= _MOST_KEPT:
                self._rows.clear()
            self._rows[key] = (now, value)
        return value


def _named_by(authorities: CertificateAuthorities, chain: Sequence[bytes], clock: Clock) -> UserInfo | None:
    """Return the user whom a certificate names, or None without a common name.

    Raises:
        Unauthorized: the certificate proves nothing.
    """
    from cryptography.x509.oid import NameOID

    try:
        subject = authorities.verify(chain, clock.now()).subject
    except CertificateRefused as error:
        raise Unauthorized from error
    names = [str(entry.value) for entry in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    groups = [str(entry.value) for entry in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    return UserInfo(names[0], "", (*groups, AUTHENTICATED_GROUP)) if names else None
