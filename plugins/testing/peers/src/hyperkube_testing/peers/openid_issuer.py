"""An OpenID Connect issuer for tests: real RSA and EC keys behind a discovery document, and tokens signed with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hyperkube_testing.peers.peer import Peer

from hyperkube.machinery.clock import Clock


@lru_cache(8)
def signing_key(name: str, algorithm: str) -> Any:
    """Return the private key of a name: RSA for ``RS…``, a curve for ``ES…``; the same one every time."""
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    del name  # the cache tells keys apart by it
    if algorithm.startswith("RS"):
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return ec.generate_private_key(ec.SECP256R1())


def jwk(name: str, algorithm: str, key: Any) -> dict[str, Any]:
    """Return the public half of a key as an issuer publishes it."""
    from jwt.algorithms import ECAlgorithm, RSAAlgorithm

    codec = RSAAlgorithm if algorithm.startswith("RS") else ECAlgorithm
    return {**json.loads(codec.to_jwk(key.public_key())), "kid": name, "use": "sig", "alg": algorithm}


class OpenIdIssuer:
    """An issuer at a path of a peer; its keys may be replaced.

    Attributes:
        url: what ``iss`` is.
        name: what the discovery document calls it.
        keys: the published keys.
    """

    ALGORITHMS: Mapping[str, str] = {"r": "RS256", "e": "ES256"}
    """The keys there are at first, by their names."""

    def __init__(self, peer: Peer, path: str, clock: Clock) -> None:
        self._peer, self._path, self._clock = peer, path, clock
        self.url = self.name = peer.url + path
        self.keys = [jwk(name, kind, signing_key(name, kind)) for name, kind in self.ALGORITHMS.items()]
        peer.answers[f"{path}/.well-known/openid-configuration"] = lambda _: {
            "issuer": self.name,
            "jwks_uri": f"{self.url}/keys",
        }
        peer.answers[f"{path}/keys"] = lambda _: {"keys": self.keys}

    def rotate(self, name: str, algorithm: str) -> None:
        """Publish one new key and nothing else."""
        self.keys = [jwk(name, algorithm, signing_key(name, algorithm))]

    def token(
        self,
        name: str = "r",
        *,
        algorithm: str = "",
        key: Any = None,
        headers: Mapping[str, str] | None = None,
        **changed: Any,
    ) -> str:
        """Return a token for alice, meant for ``kube``, good for ten minutes; a claim that is None is left out."""
        import jwt

        now = int(self._clock.now().timestamp())
        claims = {"iss": self.url, "aud": "kube", "sub": "alice", "iat": now, "exp": now + 600, **changed}
        claims = {claim: value for claim, value in claims.items() if value is not None}
        algorithm = algorithm or self.ALGORITHMS.get(name, "RS256")
        signer = key or signing_key(name, self.ALGORITHMS.get(name, algorithm))
        return jwt.encode(claims, signer, algorithm, headers={"kid": name, **(headers or {})})

    def fetches(self) -> int:
        """Return how often the keys were asked for."""
        return len([path for path, _ in self._peer.asked if path == f"{self._path}/keys"])
