"""What signs service-account tokens, made with the first token: reading a key loads the cryptography library."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hyperkube_lib.service_account_tokens import TokenIssuer

from hyperkube.machinery.clock import Clock


class TokenSigner:
    """The issuer that ``--service-account-signing-key-file`` and ``--service-account-issuer`` describe."""

    def __init__(self, options: Mapping[str, Any], issuers: list[str], audiences: list[str], clock: Clock) -> None:
        """Take the first of `issuers` as the one that signs; `audiences` are the server's own."""
        self._options = options
        self._issuer = issuers[0] if issuers else ""
        self._audiences = audiences
        self._clock = clock
        self._lock = threading.Lock()
        self._built: TokenIssuer | None = None

    def issue(self, **claims: Any) -> tuple[str, datetime]:
        """Return a token and when it expires; see `TokenIssuer.issue`.

        Raises:
            UsageError: the key file cannot be read or holds no usable key.
        """
        with self._lock:
            if self._built is None:
                self._built = TokenIssuer.from_file(
                    str(self._options["service-account-signing-key-file"]),
                    self._issuer,
                    self._clock,
                    api_audiences=self._audiences,
                    extend=bool(self._options.get("service-account-extend-token-expiration", True)),
                    max_seconds=float(self._options.get("service-account-max-token-expiration") or 0),
                )
        return self._built.issue(**claims)
