"""Asking a webhook: an object is posted to the server of a kubeconfig, which fills the object's status in.

TokenReview, SubjectAccessReview and ImageReview all work like this. A server that cannot be reached, has trouble of
its own or too much to do is asked again, a little later each time. Connections are kept and shared; the kubeconfig may
prove who asks by a certificate, a token or a password.
Source: kubernetes apiserver ``pkg/util/webhook/webhook.go``.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from hyperkube.client.client import RawResponse
from hyperkube.client.exchange import Bounds
from hyperkube.client.kubeconfig import Access, client_for, read, resolve
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dial import Dial
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object

ATTEMPTS = 5
FIRST_WAIT_SECONDS = 0.5
FACTOR = 1.5
TIMEOUT_SECONDS = 30.0
MOST_BYTES = 16 << 20
_SERVER_TROUBLE, _TOO_MANY = 500, 429


class WebhookFailed(HyperkubeError):
    """A webhook did not give an answer that can be used; the caller decides what that means."""


class ReviewClient:
    """The webhook that a kubeconfig file names.

    Args:
        path: the kubeconfig; its current context counts, or its only cluster. Or what one resolves to.
        clock: for the waits.
        attempts: how often to ask before giving up.
        first_wait: seconds before the second attempt; each later wait is half as long again.
        timeout: seconds for one attempt: to connect, for each piece of the answer, and for all of it.
        dial: connects to it, where it is not reached directly.

    Raises:
        UsageError: the file cannot be used.
    """

    def __init__(
        self,
        path: str | Path | Access,
        clock: Clock,
        *,
        attempts: int = ATTEMPTS,
        first_wait: float = FIRST_WAIT_SECONDS,
        timeout: float = TIMEOUT_SECONDS,
        dial: Dial | None = None,
    ) -> None:
        access = path if isinstance(path, Access) else resolve(read(path))
        bounds = Bounds(size=MOST_BYTES, seconds=timeout)
        self._client = client_for(access, clock=clock, timeout=timeout, dial=dial, bounds=bounds)
        self._clock = clock
        self._attempts = attempts
        self._first_wait = first_wait

    def post(self, review: Object) -> Object:
        """Return what the webhook makes of a review.

        Raises:
            WebhookFailed: it cannot be reached, refuses, or answers with something else than an object.
        """
        try:
            found = orjson.loads(self.send(review))
        except orjson.JSONDecodeError as error:
            raise WebhookFailed("the webhook's answer is no JSON") from error
        if not isinstance(found, dict):
            raise WebhookFailed("the webhook's answer is no object")
        return found

    def send(self, obj: Object) -> bytes:
        """Post an object and return whatever the answer's body is.

        Raises:
            WebhookFailed: it cannot be reached, or refuses.
        """
        answer = self._answer(orjson.dumps(obj))
        if not 200 <= answer.status < 300:
            raise WebhookFailed(f"the webhook answered {answer.status}: {answer.body[:200]!r}")
        return answer.body

    def _answer(self, body: bytes) -> RawResponse:
        wait = self._first_wait
        for left in reversed(range(self._attempts)):
            try:
                answer = self._client.request("POST", "", headers={"Content-Type": "application/json"}, body=body)
            except (ConnectionError, TimeoutError) as error:
                if not left:
                    raise WebhookFailed(f"the webhook cannot be reached: {error}") from error
            else:
                if (answer.status < _SERVER_TROUBLE and answer.status != _TOO_MANY) or not left:
                    return answer
            self._clock.sleep(wait)
            wait *= FACTOR
        raise WebhookFailed("the webhook is not to be asked at all")

    def close(self) -> None:
        """Close the idle connections."""
        self._client.close()
