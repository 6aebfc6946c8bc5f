"""Webhook: an external service knows the tokens, asked with a TokenReview.

What it says is remembered for ``--authentication-token-webhook-cache-ttl``; an error is not, be it that it could not be
asked or one that it tells of.
Source: kubernetes apiserver ``plugin/pkg/authenticator/token/webhook/webhook.go``, ``pkg/authentication/token/cache``.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hyperkube_lib.webhooks.review import ReviewClient, WebhookFailed

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.errors import Unauthorized, UsageError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin, PluginContext

_CACHE_MAX = 4096

Answer = Authenticated | None
Key = tuple[bytes, tuple[str, ...]]


def user_of(shown: Mapping[str, Any]) -> UserInfo:
    """Return the user of a TokenReview's status."""
    extra = {str(key): tuple(values or ()) for key, values in (shown.get("extra") or {}).items()}
    return UserInfo(
        str(shown.get("username") or ""), str(shown.get("uid") or ""), tuple(shown.get("groups") or ()), extra
    )


class Settings(Record):
    """The webhook's kubeconfig, the version of its reviews, and for how many seconds its answers are kept."""

    authentication_token_webhook_config_file: str = ""
    authentication_token_webhook_version: str = "v1beta1"  # noqa: S105  a version
    authentication_token_webhook_cache_ttl: float = 120.0
    service_account_issuer: tuple[str, ...] = ()
    api_audiences: tuple[str, ...] = ()


class Webhook(Plugin):
    """Names the user whom the server of ``--authentication-token-webhook-config-file`` names."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = self.settings(Settings)
        path = settings.authentication_token_webhook_config_file
        dial = context.egress.get("controlplane")
        self._reviews = ReviewClient(path, context.clock, dial=dial) if path else None
        self._version = settings.authentication_token_webhook_version
        if self._version not in {"v1", "v1beta1"}:
            text = (
                f'unsupported authentication webhook version "{self._version}", supported versions are "v1", "v1beta1"'
            )
            raise UsageError(text)
        self._ttl = settings.authentication_token_webhook_cache_ttl
        self._audiences = settings.api_audiences or settings.service_account_issuer
        self._key = secrets.token_bytes(32)
        self._answers: dict[Key, tuple[Answer, float]] = {}
        self._lock = threading.Lock()

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Ask, unless the answer is still fresh; tokens are kept as keyed digests only."""
        if not credentials.token or self._reviews is None:
            return None
        wanted = credentials.audiences or self._audiences
        key = hmac.digest(self._key, credentials.token.encode(), hashlib.sha256), wanted
        now = self.context.clock.monotonic()
        answer, until = self._answers.get(key, (None, 0.0))
        if until <= now:
            answer, until = self._ask(self._reviews, credentials.token, wanted), now + self._ttl
            self._remember(key, answer, until)
        return replace(answer, cache_seconds=until - now) if answer is not None else None

    def _remember(self, key: Key, answer: Answer, until: float) -> None:
        with self._lock:
            if len(self._answers) >= _CACHE_MAX:
                self._answers.clear()
            self._answers[key] = answer, until

    def _ask(self, reviews: ReviewClient, token: str, wanted: tuple[str, ...]) -> Answer:
        spec: Object = {"token": token}
        if wanted:
            spec["audiences"] = list(wanted)
        review = {"apiVersion": f"authentication.k8s.io/{self._version}", "kind": "TokenReview", "metadata": {}}
        try:
            status = reviews.post({**review, "spec": spec}).get("status") or {}
        except WebhookFailed as error:
            self.context.logger.warning("no review of a token: %s", error)
            raise Unauthorized from error
        if not status.get("authenticated"):
            if status.get("error"):
                self.context.logger.info("a token was refused: %s", str(status["error"]).replace(token, "…"))
                raise Unauthorized
            return None
        audiences = self._common(status.get("audiences") or (), wanted)
        return None if audiences is None else Authenticated(user_of(status.get("user") or {}), audiences)

    def _common(self, meant_for: Sequence[str], wanted: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return the audiences that the token has of those wanted; a webhook that knows none speaks of the server's."""
        if not wanted:
            return ()
        common = tuple(audience for audience in wanted if audience in (meant_for or self._audiences))
        return common or None

    def close(self) -> None:
        """Close the connections."""
        if self._reviews is not None:
            self._reviews.close()
