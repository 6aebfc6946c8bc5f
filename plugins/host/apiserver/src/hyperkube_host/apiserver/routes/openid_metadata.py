"""What relying parties of service-account tokens ask: the issuer's configuration and its public keys.

Source: kubernetes ``pkg/serviceaccount/openidmetadata.go``, ``pkg/routes/openidmetadata.go``.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from hyperkube_host.apiserver.options import ServiceAccountOptions
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.serializer import negotiation
from hyperkube_lib.service_account_tokens import key_id
from hyperkube_lib.serving.exchange import Answer, Response

from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

CONFIGURATION, KEYS = "/.well-known/openid-configuration", "/openid/v1/jwks"
JWK_SET = "application/jwk-set+json"
_CACHE = ("Cache-Control", "public, max-age=3600")
_CURVES = {256: ("P-256", "ES256"), 384: ("P-384", "ES384"), 521: ("P-521", "ES512")}


class OpenIdPages:
    """Answers the two paths; the keys are read when they are first asked for."""

    def __init__(self, options: ServiceAccountOptions, server_address: str) -> None:
        self._options = options
        self._address = server_address
        self._keys: list[Object] | None = None

    def configuration(self, request: ApiRequest) -> Answer:
        """Return the issuer's configuration."""
        negotiation.check_accepted(request.headers.get("accept", ""), (negotiation.JSON,))
        body = {
            "issuer": next(iter(self._options.service_account_issuer), ""),
            "jwks_uri": self._options.service_account_jwks_uri or f"https://{self._address}{KEYS}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": sorted({key["alg"] for key in self._load()}) or ["RS256"],
        }
        return Response(headers=[("Content-Type", negotiation.JSON), _CACHE], body=orjson.dumps(body))

    def keys(self, request: ApiRequest) -> Answer:
        """Return the public keys."""
        negotiation.check_accepted(request.headers.get("accept", "") or "*/*", (JWK_SET,), strict=True)
        return Response(headers=[("Content-Type", JWK_SET), _CACHE], body=orjson.dumps({"keys": self._load()}))

    def _load(self) -> list[Object]:
        if self._keys is None:
            signing = self._options.service_account_signing_key_file
            paths = self._options.service_account_key_file or ((signing,) if signing else ())
            self._keys = [jwk(read_public_key(Path(path).read_bytes())) for path in paths]
        return self._keys


def read_public_key(pem: bytes) -> PublicKeyTypes:
    """Return the public key of a PEM file that holds a public or a private one."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

    if b"PRIVATE KEY" in pem:
        return load_pem_private_key(pem, None).public_key()
    return load_pem_public_key(pem)


def _number(value: int, size: int = 0) -> str:
    length = size or (value.bit_length() + 7) // 8
    return base64.urlsafe_b64encode(value.to_bytes(length, "big")).rstrip(b"=").decode()


def jwk(key: PublicKeyTypes) -> Object:
    """Return a public key as a JSON web key.

    Raises:
        TypeError: it is neither an RSA nor an elliptic-curve key.
    """
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    if isinstance(key, RSAPublicKey):
        numbers = key.public_numbers()
        members = {"kty": "RSA", "alg": "RS256", "n": _number(numbers.n), "e": _number(numbers.e)}
    elif isinstance(key, EllipticCurvePublicKey):
        point, size = key.public_numbers(), (key.curve.key_size + 7) // 8
        curve, algorithm = _CURVES[key.curve.key_size]
        members = {
            "kty": "EC",
            "alg": algorithm,
            "crv": curve,
            "x": _number(point.x, size),
            "y": _number(point.y, size),
        }
    else:
        raise TypeError(f"a {type(key).__name__} cannot verify service-account tokens")
    return {"use": "sig", "kid": key_id(key), **members}
