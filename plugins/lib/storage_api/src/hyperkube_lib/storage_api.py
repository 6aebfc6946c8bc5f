"""The HTTP API of a storage system, as a kind of volume calls it: JSON out and in, failures as `VolumeFailed`.

An answer is bounded in size and time, and believed only if it has the shape that was asked for. A message has the
method, the path and the system's own words: credentials stand in headers alone, which no message shows.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Final

from hyperkube.client.connection_pool import ConnectionPool, TlsOptions
from hyperkube.client.exchange import Bounds, exchange
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.errors import ApiError, UsageError
from hyperkube.machinery.objects import Object

__all__ = ["StorageApi", "StorageRefused", "basic_authorization", "secret_data"]

SECONDS: Final = 30.0
"""How long a connection, and each piece of an answer, may take."""
BOUNDS: Final = Bounds(size=16 << 20, seconds=120.0)
"""What an answer may have, and take."""
_SHOWN = 300
"""As many characters of a system's own words are shown."""


class StorageRefused(VolumeFailed):
    """The system refused a call; `status` is HTTP's."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def basic_authorization(user: str, password: str) -> dict[str, str]:
    """Return the header of basic authentication."""
    credentials = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"Authorization": f"Basic {credentials}"}


def secret_data(get_secret: Callable[[str, str], Object], namespace: str, name: str, kind: str = "") -> dict[str, str]:
    """Return what is in a secret, as text.

    Args:
        get_secret: see `hyperkube.hookspecs.volume.VolumeRequest`.
        namespace: the secret's.
        name: likewise.
        kind: the type that it must have, empty for any: a volume that may name a secret of another namespace reads
            those alone that were made for its kind.

    Raises:
        VolumeFailed: it is not there, is of another type, or its data is no text.
    """
    try:
        found = get_secret(namespace, name)
        if kind and found.get("type") != kind:
            raise VolumeFailed(f"cannot get secret {namespace}/{name}: it must be of type {kind}")
        data = found.get("data") or {}
        return {key: base64.b64decode(value).decode() for key, value in data.items()}
    except ApiError as error:
        raise VolumeFailed(f"couldn't get secret {namespace}/{name}: {error.message}") from error
    except ValueError:
        raise VolumeFailed(f"secret {namespace}/{name} has data that is no text") from None


class StorageApi:
    """Calls one API, each time over a connection of its own; thread-safe."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        tls: TlsOptions | None = None,
        *,
        seconds: float = SECONDS,
        bounds: Bounds = BOUNDS,
    ) -> None:
        """Take where the API is, `headers` that authorize each call, and whom to trust.

        Raises:
            VolumeFailed: the address is no URL, or the certificates cannot be used.
        """
        try:
            self._pool = ConnectionPool(url, tls or TlsOptions(), timeout=seconds)
        except UsageError as error:
            raise VolumeFailed(str(error)) from error
        self._headers, self._bounds = dict(headers or {}), bounds

    def call(self, method: str, path: str, body: object = None) -> object:
        """Call, and return what is answered, None for nothing.

        Args:
            method: HTTP's.
            path: below the URL of the API, each part of it quoted.
            body: what is sent as JSON, None for nothing.

        Raises:
            StorageRefused: the system says no.
            VolumeFailed: it cannot be reached, answers with rubbish, with too much or too slowly.
        """
        headers = {"Accept": "application/json", **self._headers}
        data = b""
        if body is not None:
            data = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        what = f"{method} {self._pool.prefix}{path}"
        connection = self._pool.fresh()
        try:
            answer, _ = exchange(connection, method, self._pool.prefix + path, headers, data, self._bounds)
        except (OSError, ValueError) as error:
            raise VolumeFailed(f"{what} at {self._pool.address}: {error}") from error
        finally:
            connection.close()
        if answer.status >= 300:
            told = _words(answer.body)
            raise StorageRefused(f"{what}: {answer.status}{': ' if told else ''}{told}", answer.status)
        try:
            return json.loads(answer.body) if answer.body.strip() else None
        except (ValueError, RecursionError):
            raise VolumeFailed(f"{what}: answered {answer.status} with what is no JSON") from None

    def object(self, method: str, path: str, body: object = None) -> Object:
        """Call, and return the object that is answered.

        Raises:
            StorageRefused, VolumeFailed: see `call`; or it is no object.
        """
        found = self.call(method, path, body)
        if not isinstance(found, dict):
            raise VolumeFailed(f"{method} {self._pool.prefix}{path}: answered with what is no object")
        return found

    def objects(self, path: str) -> list[Object]:
        """Get a list of objects.

        Raises:
            StorageRefused, VolumeFailed: see `call`; or it is no such list.
        """
        found = self.call("GET", path)
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise VolumeFailed(f"GET {self._pool.prefix}{path}: answered with what is no list of objects")
        return found


def _words(body: bytes) -> str:
    """Return the message of a refusal, in one line.

    Nothing else of an answer is told: pods may name the address, and read what their events say.
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(content, dict):
        return ""
    told = content.get("message") or content.get("description")
    return " ".join(told.split())[:_SHOWN] if isinstance(told, str) else ""
