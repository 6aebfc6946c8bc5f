"""What signs service-account tokens, made with the first token: reading a key loads the cryptography library."""

from __future__ import annotations

import threading
from datetime import datetime
from typing import Any

from hyperkube_host.apiserver.options import ServiceAccountOptions
from hyperkube_lib.service_account_tokens import TokenIssuer

from hyperkube.machinery.clock import Clock


class TokenSigner:
    """The issuer that ``--service-account-signing-key-file`` and ``--service-account-issuer`` describe."""

    def __init__(self, options: ServiceAccountOptions, clock: Clock) -> None:
        """Sign as the first issuer; the audiences of the server are its issuers unless others are given."""
        self._options = options
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
                options = self._options
                self._built = TokenIssuer.from_file(
                    options.service_account_signing_key_file,
                    next(iter(options.service_account_issuer), ""),
                    self._clock,
                    api_audiences=options.api_audiences or options.service_account_issuer,
                    extend=options.service_account_extend_token_expiration,
                    max_seconds=options.service_account_max_token_expiration,
                )
        return self._built.issue(**claims)
