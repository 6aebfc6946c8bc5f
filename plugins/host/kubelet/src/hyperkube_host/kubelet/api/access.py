"""Who may use the kubelet's API: certificates and tokens say who, the API server says whether.

Sources: kubernetes ``pkg/kubelet/server/auth.go`` (attributes) and ``cmd/kubelet/app/auth.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_lib.client_certificates import CertificateAuthorities, CertificateRefused
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.client.client import Client
from hyperkube.kinds.resources import SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, Forbidden, Unauthorized
from hyperkube.machinery.users import ANONYMOUS, AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP, UserInfo

TOKEN_SECONDS = 120.0
ALLOWED_SECONDS, DENIED_SECONDS = 300.0, 30.0
_MOST_KEPT = 1000
_VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_SUBRESOURCES = (
    ("/stats", ("stats",)),
    ("/metrics", ("metrics",)),
    ("/logs", ("log",)),
    ("/pods", ("pods", "proxy")),
    ("/runningpods", ("pods", "proxy")),
    ("/healthz", ("healthz", "proxy")),
    ("/configz", ("configz", "proxy")),
    ("/statusz", ("statusz",)),
    ("/flagz", ("configz",)),
)
"""The narrow subresource comes first, then the wide one of older roles."""


class Access:
    """Authenticates and authorizes requests, remembering answers for a while."""

    def __init__(self, options: KubeletOptions, client: Client | None, clock: Clock) -> None:
        self._options = options
        self._client = client
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens: dict[str, tuple[float, UserInfo | None]] = {}
        self._decisions: dict[tuple[str, ...], tuple[float, bool]] = {}
        self._authorities: CertificateAuthorities | None = None

    def check(self, request: HttpRequest) -> UserInfo:
        """Return who asks, if they may.

        Raises:
            Unauthorized: nobody knows who they are.
            Forbidden: they may not.
        """
        user = self._authenticate(request)
        if self._options.authorization_mode != "AlwaysAllow":
            self._authorize(user, _VERBS.get(request.method, ""), subresources(request.path))
        return user

    def _authenticate(self, request: HttpRequest) -> UserInfo:
        if request.user is not None:
            return request.user
        refusal: Unauthorized | None = None
        if request.certificate and self._options.client_ca_file:
            try:
                user = self._from_certificate(request.certificate)
            except Unauthorized as error:
                user, refusal = None, error
            if user is not None:
                return user
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            user = self._from_token(token.strip()) if self._options.token_webhook else None
            if user is None:
                raise Unauthorized
            return user
        if self._options.anonymous and refusal is None:
            return UserInfo(ANONYMOUS, "", (UNAUTHENTICATED_GROUP,))
        raise Unauthorized from refusal

    def _from_certificate(self, chain: Sequence[bytes]) -> UserInfo | None:
        """Return the user whom a certificate of one of our authorities names, or None without a common name.

        Raises:
            Unauthorized: the certificate proves nothing.
        """
        from cryptography.x509.oid import NameOID

        if self._authorities is None:
            self._authorities = CertificateAuthorities(self._options.client_ca_file)
        try:
            subject = self._authorities.verify(chain, self._clock.now()).subject
        except CertificateRefused as error:
            raise Unauthorized from error
        names = [str(entry.value) for entry in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
        groups = [str(entry.value) for entry in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
        return UserInfo(names[0], "", (*groups, AUTHENTICATED_GROUP)) if names else None

    def _from_token(self, token: str) -> UserInfo | None:
        now = self._clock.monotonic()
        with self._lock:
            kept = self._tokens.get(token)
        if kept is not None and now - kept[0] < TOKEN_SECONDS:
            return kept[1]
        if self._client is None:
            return None
        review = {"kind": "TokenReview", "apiVersion": TOKEN_REVIEWS.api_version, "spec": {"token": token}}
        try:
            status = self._client.create(TOKEN_REVIEWS, review).get("status") or {}
        except (ApiError, ConnectionError) as error:
            raise Unauthorized from error
        user = None
        if status.get("authenticated"):
            found = status["user"]
            user = UserInfo(found["username"], found.get("uid", ""), tuple(found.get("groups") or ()))
        with self._lock:
            if len(self._tokens) > _MOST_KEPT:
                self._tokens.clear()
            self._tokens[token] = (now, user)
        return user

    def _authorize(self, user: UserInfo, verb: str, subs: Sequence[str]) -> None:
        key = (user.name, *user.groups, verb, *subs)
        now = self._clock.monotonic()
        with self._lock:
            kept = self._decisions.get(key)
        if kept is not None and now - kept[0] < (ALLOWED_SECONDS if kept[1] else DENIED_SECONDS):
            allowed = kept[1]
        else:
            allowed = any(self._ask(user, verb, sub) for sub in subs)
            with self._lock:
                if len(self._decisions) > _MOST_KEPT:
                    self._decisions.clear()
                self._decisions[key] = (now, allowed)
        if not allowed:
            what = f"verb={verb}, resource=nodes, subresource(s)=[{' '.join(subs)}]"
            raise Forbidden(f"Forbidden (user={user.name}, {what})")

    def _ask(self, user: UserInfo, verb: str, sub: str) -> bool:
        if self._client is None:
            return False
        attributes = {
            "verb": verb,
            "version": "v1",
            "resource": "nodes",
            "subresource": sub,
            "name": self._options.node_name,
        }
        review = {
            "kind": "SubjectAccessReview",
            "apiVersion": SUBJECT_ACCESS_REVIEWS.api_version,
            "spec": {"user": user.name, "uid": user.uid, "groups": list(user.groups), "resourceAttributes": attributes},
        }
        try:
            status = self._client.create(SUBJECT_ACCESS_REVIEWS, review).get("status") or {}
        except (ApiError, ConnectionError) as error:
            raise Forbidden(f"Authorization error (user={user.name}): {error}") from error
        return bool(status.get("allowed"))


def subresources(path: str) -> Sequence[str]:
    """Return the subresources of nodes of which one must be allowed for a path of the kubelet's API."""
    for prefix, names in _SUBRESOURCES:
        if path == prefix or path.startswith(prefix + "/"):
            return names
    return ("proxy",)
