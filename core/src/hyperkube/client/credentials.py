"""The Authorization header of a client."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

from hyperkube.machinery.clock import Clock

TOKEN_SECONDS = 60.0


class Credentials:
    """The Authorization header, from a token (fixed, computed, or in a file that rotates) or a password."""

    def __init__(
        self, token: str | Callable[[], str], token_file: str, username: str, password: str, clock: Clock
    ) -> None:
        self._token = token
        self._file = Path(token_file) if token_file else None
        self._clock = clock
        self._read_at = -TOKEN_SECONDS
        self._basic = ""
        if username:
            self._basic = f"Basic {base64.b64encode(f'{username}:{password}'.encode()).decode()}"

    def headers(self) -> dict[str, str]:
        """Return the header to send, reading the token file again when a minute has passed."""
        if self._file is not None and self._clock.monotonic() - self._read_at >= TOKEN_SECONDS:
            self._token = self._file.read_text(encoding="utf-8").strip()
            self._read_at = self._clock.monotonic()
        token = self._token if isinstance(self._token, str) else self._token()
        if token:
            return {"Authorization": f"Bearer {token}"}
        return {"Authorization": self._basic} if self._basic else {}
