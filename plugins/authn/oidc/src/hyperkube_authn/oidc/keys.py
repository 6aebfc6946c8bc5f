"""An issuer's public keys: found through its discovery document, and fetched again when a token names an unknown one.

Source: OpenID Connect Discovery 1.0; RFC 7517.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import orjson
from hyperkube_authn.oidc.fetch import NoHttpsUrl, fetch

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dial import Dial
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from jwt import PyJWK

REFRESH_SECONDS = 10.0
"""Keys are not fetched more often than this, however many unknown ones tokens name."""


class IssuerUnavailable(HyperkubeError):
    """The issuer cannot be asked for its keys, or answers nonsense."""


class KeySet:
    """The keys of one issuer.

    Args:
        url: the issuer.
        discovery_url: where its configuration is, if not below `url`.
        ca: PEM text of the authority of its server.
        clock: for the interval between fetches.
        dial: connects to it, where it is not reached directly.
    """

    def __init__(self, url: str, discovery_url: str, ca: str, clock: Clock, dial: Dial | None = None) -> None:
        self._url = url
        self._discovery = discovery_url or f"{url.rstrip('/')}/.well-known/openid-configuration"
        self._ca = ca
        self._clock = clock
        self._dial = dial
        self._lock = threading.Lock()
        self._keys: list[PyJWK] | None = None
        self._fetched = -REFRESH_SECONDS

    def candidates(self, key_id: str) -> list[PyJWK]:
        """Return the key that a token names, or all keys for one that names none.

        Raises:
            IssuerUnavailable: the keys were never fetched and cannot be.
        """
        found = self._named(key_id)
        if found:
            return found
        with self._lock:
            found = self._named(key_id)
            if found or self._clock.monotonic() - self._fetched < REFRESH_SECONDS:
                return found
            try:
                self._keys = self._fetch()
            finally:  # those who waited meanwhile do not ask an issuer again that took its time
                self._fetched = self._clock.monotonic()
        return self._named(key_id)

    def _named(self, key_id: str) -> list[PyJWK]:
        keys = self._keys or []
        return [key for key in keys if key.key_id == key_id] if key_id else keys

    def _fetch(self) -> list[PyJWK]:
        configuration = self._get(self._discovery)
        if configuration.get("issuer") != self._url:
            raise IssuerUnavailable(f"issuer {self._url!r} calls itself {configuration.get('issuer')!r}")
        entries = self._get(str(configuration.get("jwks_uri") or "")).get("keys") or []
        if not isinstance(entries, list):
            raise IssuerUnavailable(f"issuer {self._url!r} publishes keys that are no list")
        return [key for entry in entries if isinstance(entry, dict) and (key := _key_of(entry)) is not None]

    def _get(self, url: str) -> Object:
        try:
            answer = fetch(url, self._ca, self._clock, dial=self._dial)
            found: Any = orjson.loads(answer.body)
        except NoHttpsUrl as error:
            raise IssuerUnavailable(f"issuer {self._url!r} has its keys at {url!r}, which is {error}") from error
        except (ConnectionError, orjson.JSONDecodeError) as error:
            raise IssuerUnavailable(f"{url!r} does not answer: {error}") from error
        if answer.status != 200 or not isinstance(found, dict):
            raise IssuerUnavailable(f"{url!r} answers {answer.status}")
        return found


def _key_of(entry: Object) -> PyJWK | None:
    """Return a published key, None for one of a kind that we do not know: it cannot have signed what we accept."""
    from jwt import PyJWK, PyJWTError

    if entry.get("use", "sig") != "sig" or str(entry.get("kty")) not in {"RSA", "EC"}:
        return None
    try:
        return PyJWK(entry, entry.get("alg") or _default_algorithm(entry))
    except (PyJWTError, TypeError, ValueError):
        return None


def _default_algorithm(entry: Object) -> str:
    curves = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}
    return "RS256" if entry.get("kty") == "RSA" else curves.get(str(entry.get("crv")), "ES256")
