"""Webhook: an external service decides, asked with a SubjectAccessReview.

A yes and a no are remembered for different times. A webhook that cannot be asked has no opinion, unless its failure
policy says that it then denies. Flags configure one; an AuthorizationConfiguration file may configure several, each
with conditions for being asked at all.
Source: kubernetes apiserver ``plugin/pkg/authorizer/webhook/webhook.go``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any

import orjson
from hyperkube_authz.webhook.reviews import review_of
from hyperkube_authz.webhook.settings import FlagSettings, from_flags, from_table, is_from_flags
from hyperkube_lib.webhooks.review import ReviewClient, WebhookFailed

from hyperkube.client.kubeconfig import in_cluster
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authz import NO_OPINION, Attributes, Decision, Rules
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin, PluginContext

_REVIEWS = "/apis/authorization.k8s.io/{}/subjectaccessreviews"
_CACHE_MAX = 8192
_QUESTION_MAX = 10_000
"""Longer questions are not remembered: invented names shall not fill the memory."""


class Webhook(Plugin):
    """Asks the server of ``--authorization-webhook-config-file``, or of its entry in ``--authorization-config``."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        table = context.settings
        self._settings = from_flags(self.settings(FlagSettings)) if is_from_flags(table) else from_table(table)
        place = self._settings.path or in_cluster(os.environ, path=_REVIEWS.format(self._settings.version))
        dial = context.egress.get("controlplane")
        self._reviews = ReviewClient(place, context.clock, timeout=self._settings.timeout, dial=dial)
        self._on_failure = Decision("deny" if self._settings.denies_on_failure else "no opinion", cacheable=False)
        self._answers: dict[bytes, tuple[Decision, float]] = {}
        self._lock = threading.Lock()

    @hookimpl
    def authz_authorize(self, attributes: Attributes) -> Decision:
        """Ask if the conditions hold, unless the answer is still fresh."""
        if self._settings.conditions:
            from hyperkube_authz.webhook.conditions import ConditionFailed, all_hold

            try:
                if not all_hold(self._settings.conditions, attributes):
                    return NO_OPINION
            except ConditionFailed as error:
                self.context.logger.warning("no decision of a webhook: %s", error)
                return self._on_failure
        review = review_of(attributes, self._settings.version)
        key = orjson.dumps(review["spec"], option=orjson.OPT_SORT_KEYS)
        now = self.context.clock.monotonic()
        known, until = self._answers.get(key, (None, 0.0))
        if known is not None and now < until:
            return known
        try:
            answer = self._reviews.post(review)
        except WebhookFailed as error:
            self.context.logger.warning("no decision of a webhook: %s", error)
            return self._on_failure
        status = answer.get("status") or {}
        if status.get("allowed") and status.get("denied"):
            self.context.logger.warning("a webhook both allows and denies, which counts as a denial")
        decision = _decision(status)
        seconds = self._settings.yes_seconds if status.get("allowed") else self._settings.no_seconds
        if seconds > 0 and len(key) <= _QUESTION_MAX:
            self._remember(key, decision, now + seconds)
        return decision

    def _remember(self, key: bytes, decision: Decision, until: float) -> None:
        with self._lock:
            if len(self._answers) >= _CACHE_MAX:
                self._answers.clear()
            self._answers[key] = decision, until

    @hookimpl
    def authz_epoch(self) -> int:
        """Stay at 0: decisions are not `cacheable`, they are remembered here."""
        return 0

    @hookimpl
    def authz_rules(self, user: UserInfo, namespace: str) -> Rules:
        """Say that nothing can be listed."""
        return Rules(incomplete=True, error="webhook authorizer does not support user rule resolution")

    def close(self) -> None:
        """Close the connections."""
        self._reviews.close()


def _decision(status: Mapping[str, Any]) -> Decision:
    reason = str(status.get("reason") or "")
    if status.get("denied"):
        return Decision("deny", reason, cacheable=False)
    return Decision("allow" if status.get("allowed") else "no opinion", reason, cacheable=False)
