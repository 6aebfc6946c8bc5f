"""Service account tokens: JWTs that say which account they stand for and which object they live and die with.

Issued here, checked by the authentication plugin, published as a JSON web key set. Keys are RSA (RS256) or ECDSA
(ES256, ES384, ES512). Source: kubernetes ``pkg/serviceaccount`` (claims.go, legacy.go, jwt.go).
"""

from __future__ import annotations

import base64
import hashlib
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object, name_of, uid_of
from hyperkube.machinery.users import SERVICE_ACCOUNT_PREFIX

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes

LEGACY_ISSUER = "kubernetes/serviceaccount"
PRIVATE_CLAIM = "kubernetes.io"
LAST_USED = "kubernetes.io/legacy-token-last-used"
"""Label of a token's secret: the day of its last use."""
INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since"
"""Label of a token's secret: the token is refused since this day."""
TRACKING, TRACKING_KEY = "kube-apiserver-legacy-service-account-token-tracking", "since"
"""The ConfigMap in kube-system that says since when uses are written down, and its entry."""
LEGACY_PREFIX = "kubernetes.io/serviceaccount/"
ALGORITHMS = ("RS256", "ES256", "ES384", "ES512")

WARN_ONLY_SECONDS = 3607
"""The lifetime that admission writes into pods; for these a longer token is issued, and its use past it is noted."""
EXTENDED_SECONDS = 365 * 24 * 3600

_CURVES = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}


class TokenIssuer:
    """Signs tokens with one private key."""

    def __init__(
        self,
        key: PrivateKeyTypes,
        issuer: str,
        clock: Clock,
        *,
        api_audiences: Sequence[str] = (),
        extend: bool = True,
        max_seconds: float = 0,
        new_id: Callable[[], object] = uuid.uuid4,
    ) -> None:
        """Build an issuer.

        Args:
            key: an RSA or ECDSA private key.
            issuer: the ``iss`` claim.
            clock: gives the times in the claims.
            api_audiences: the server's own audiences; only tokens for these are extended.
            extend: give pods' automatic tokens a year, for clients that do not read them again.
            max_seconds: the longest lifetime; 0 for no limit.
            new_id: makes the ``jti`` claims.

        Raises:
            UsageError: the key is of another kind.
        """
        self._key = key
        self._issuer = issuer
        self._clock = clock
        self._api_audiences = frozenset(api_audiences or [issuer])
        self._extend = extend
        self._max_seconds = max_seconds
        self._new_id = new_id
        self._algorithm = algorithm_of(key)
        self._key_id = key_id(key.public_key())

    @classmethod
    def from_file(cls, path: str, issuer: str, clock: Clock, **more: Any) -> TokenIssuer:
        """Build an issuer with the private key of a PEM file.

        Raises:
            UsageError: the file cannot be read or holds no usable private key.
        """
        return cls(load_private_key(path), issuer, clock, **more)

    def issue(
        self,
        *,
        namespace: str,
        account: Object,
        audiences: Sequence[str],
        seconds: float,
        bound: Object | None = None,
        node: Object | None = None,
    ) -> tuple[str, datetime]:
        """Return a token for an account, and when it expires as the client is told.

        Args:
            namespace: the account's namespace.
            account: the ServiceAccount object.
            audiences: whom the token is meant for.
            seconds: how long it shall live.
            bound: the Pod, Secret or Node (with its kind) whose end ends the token.
            node: the node that a bound pod runs on, to be named in the token.
        """
        import jwt

        now = self._clock.now()
        if self._max_seconds:
            seconds = min(seconds, self._max_seconds)
        expires = now + timedelta(seconds=seconds)
        private: Object = {
            "namespace": namespace,
            "serviceaccount": {"name": name_of(account), "uid": uid_of(account)},
        }
        if bound is not None:
            private[str(bound["kind"]).lower()] = {"name": name_of(bound), "uid": uid_of(bound)}
        if node is not None:
            uid = uid_of(node)
            private["node"] = {"name": name_of(node), **({"uid": uid} if uid else {})}
        ends = expires
        if self._is_extended(audiences, seconds, bound):
            private["warnafter"] = int(expires.timestamp())
            ends = now + timedelta(seconds=EXTENDED_SECONDS)
        claims = {
            "aud": list(audiences),
            "exp": int(ends.timestamp()),
            "iat": int(now.timestamp()),
            "iss": self._issuer,
            "jti": str(self._new_id()),
            PRIVATE_CLAIM: private,
            "nbf": int(now.timestamp()),
            "sub": f"{SERVICE_ACCOUNT_PREFIX}{namespace}:{name_of(account)}",
        }
        token = jwt.encode(claims, self._key, self._algorithm, headers={"kid": self._key_id})  # type: ignore[arg-type]  # checked by algorithm_of
        return token, expires

    def _is_extended(self, audiences: Sequence[str], seconds: float, bound: Object | None) -> bool:
        return (
            self._extend
            and seconds == WARN_ONLY_SECONDS
            and bound is not None
            and bound.get("kind") == "Pod"
            and set(audiences) <= self._api_audiences
        )

    def issue_legacy(self, *, namespace: str, account: Object, secret: Object) -> str:
        """Return the token that never expires of a secret of type ``kubernetes.io/service-account-token``."""
        import jwt

        claims = {
            "iss": LEGACY_ISSUER,
            LEGACY_PREFIX + "namespace": namespace,
            LEGACY_PREFIX + "secret.name": name_of(secret),
            LEGACY_PREFIX + "service-account.name": name_of(account),
            LEGACY_PREFIX + "service-account.uid": uid_of(account),
            "sub": f"{SERVICE_ACCOUNT_PREFIX}{namespace}:{name_of(account)}",
        }
        return jwt.encode(claims, self._key, self._algorithm, headers={"kid": self._key_id})  # type: ignore[arg-type]  # as above


def algorithm_of(key: Any) -> str:
    """Return the JWT algorithm that fits a private or public key.

    Raises:
        UsageError: the key is neither RSA nor ECDSA on a usual curve.
    """
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    if isinstance(key, rsa.RSAPrivateKey | rsa.RSAPublicKey):
        return "RS256"
    if isinstance(key, ec.EllipticCurvePrivateKey | ec.EllipticCurvePublicKey) and key.curve.name in _CURVES:
        return _CURVES[key.curve.name]
    raise UsageError(f"service account keys must be RSA or ECDSA, not {type(key).__name__!r}")


def key_id(key: PublicKeyTypes) -> str:
    """Return the id of a public key: the hash of its DER form, so that everybody finds the same."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.urlsafe_b64encode(hashlib.sha256(der).digest()).rstrip(b"=").decode()


def load_private_key(path: str) -> PrivateKeyTypes:
    """Read the private key of a PEM file.

    Raises:
        UsageError: there is none, or none that can sign tokens.
    """
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(Path(path).read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"cannot read the service account key {path!r}: {error}") from error
    algorithm_of(key)
    return key


def load_public_keys(path: str) -> list[PublicKeyTypes]:
    """Read all keys of a PEM file, public ones, those of certificates, and the public halves of private ones.

    Raises:
        UsageError: the file cannot be read or holds no key.
    """
    try:
        text = Path(path).read_bytes()
        keys = [_public_half(block) for block in _blocks(text)]
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"cannot read the service account keys {path!r}: {error}") from error
    if not keys:
        raise UsageError(f"the service account key file {path!r} holds no key")
    for key in keys:
        algorithm_of(key)
    return keys


def _blocks(text: bytes) -> list[bytes]:
    parts = text.split(b"-----BEGIN ")[1:]
    return [b"-----BEGIN " + part for part in parts if not part.startswith(b"EC PARAMETERS")]


def _public_half(block: bytes) -> PublicKeyTypes:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
    from cryptography.x509 import load_pem_x509_certificate

    if b"PRIVATE KEY" in block.split(b"\n", 1)[0]:
        return load_pem_private_key(block, None).public_key()
    if block.startswith(b"-----BEGIN CERTIFICATE"):
        return load_pem_x509_certificate(block).public_key()
    return load_pem_public_key(block)


def key_set(keys: Sequence[PublicKeyTypes]) -> Object:
    """Return the JSON web key set of ``/openid/v1/jwks``."""
    import json

    from jwt.algorithms import ECAlgorithm, RSAAlgorithm

    entries = []
    for key in keys:
        algorithm = algorithm_of(key)
        codec = RSAAlgorithm if algorithm == "RS256" else ECAlgorithm
        values = json.loads(codec.to_jwk(key))  # type: ignore[arg-type]  # the algorithm says which
        values = {name: value for name, value in values.items() if name != "key_ops"}
        entries.append({"use": "sig", **values, "kid": key_id(key), "alg": algorithm})
    return {"keys": entries}
