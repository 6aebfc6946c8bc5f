"""Webhook: somebody else decides, and is asked with a SubjectAccessReview.

A yes and a no are remembered for different times. A webhook that cannot be asked has no opinion, unless its failure
policy says that it then denies. Flags configure one; an AuthorizationConfiguration file may configure several.
Source: kubernetes apiserver ``plugin/pkg/authorizer/webhook/webhook.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from hyperkube.client.review import ReviewClient, WebhookFailed
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authz import Attributes, Decision, Rules
from hyperkube.machinery.durations import parse_duration
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin, PluginContext
from hyperkube.plugin.configuration import check_keys

_FILE = "authorization-webhook-config-file"
_VERSION = "authorization-webhook-version"
_YES = "authorization-webhook-cache-authorized-ttl"
_NO = "authorization-webhook-cache-unauthorized-ttl"
_KEYS = (
    "timeout",
    "authorizedTTL",
    "unauthorizedTTL",
    "cacheAuthorizedRequests",
    "cacheUnauthorizedRequests",
    "subjectAccessReviewVersion",
    "matchConditionSubjectAccessReviewVersion",
    "failurePolicy",
    "connectionInfo",
    "matchConditions",
)
_CACHE_MAX = 8192
_QUESTION_MAX = 10_000
"""Longer questions are not remembered: nobody shall fill the memory with invented names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How one webhook is asked; the times are seconds."""

    path: str
    version: str
    yes_seconds: float
    no_seconds: float
    timeout: float = 30.0
    denies_on_failure: bool = False


def from_flags(options: Mapping[str, Any]) -> Settings:
    """Return the settings of ``--authorization-webhook-*``.

    Raises:
        UsageError: there is no file.
    """
    path = str(options.get(_FILE) or "")
    if not path:
        raise UsageError("authorization-mode Webhook's authorization config file not passed")
    yes, no = options.get(_YES), options.get(_NO)
    return Settings(
        path=path,
        version=_checked_version(options.get(_VERSION) or "v1beta1", _VERSION),
        yes_seconds=300.0 if yes is None else float(yes),
        no_seconds=30.0 if no is None else float(no),
    )


def from_table(table: Mapping[str, Any], where: str) -> Settings:
    """Return the settings of a ``webhook`` table of an AuthorizationConfiguration file.

    Raises:
        UsageError: one is wrong, or a match condition is given.
    """
    check_keys(table, _KEYS, where)
    if table.get("matchConditions"):
        raise UsageError(f"{where}.matchConditions: CEL expressions are not built yet")
    connection = check_keys(table.get("connectionInfo"), ("type", "kubeConfigFile"), f"{where}.connectionInfo")
    if connection.get("type") != "KubeConfigFile" or not connection.get("kubeConfigFile"):
        raise UsageError(f"{where}.connectionInfo: type must be 'KubeConfigFile' with a kubeConfigFile")
    policy = table.get("failurePolicy")
    if policy not in {"NoOpinion", "Deny"}:
        raise UsageError(f"{where}.failurePolicy {policy!r} must be 'NoOpinion' or 'Deny'")
    timeout = _seconds(table, "timeout", "", where)
    if not 0 < timeout <= 30:
        raise UsageError(f"{where}.timeout must be greater than 0s and less than or equal to 30s")
    return Settings(
        path=str(connection["kubeConfigFile"]),
        version=_checked_version(table.get("subjectAccessReviewVersion"), f"{where}.subjectAccessReviewVersion"),
        yes_seconds=_seconds(table, "authorizedTTL", "5m", where) * table.get("cacheAuthorizedRequests", True),
        no_seconds=_seconds(table, "unauthorizedTTL", "30s", where) * table.get("cacheUnauthorizedRequests", True),
        timeout=timeout,
        denies_on_failure=policy == "Deny",
    )


def _seconds(table: Mapping[str, Any], key: str, default: str, where: str) -> float:
    text = str(table.get(key) or default)
    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"{where}.{key}: {error}") from error


def _checked_version(version: Any, where: str) -> str:
    if version not in {"v1", "v1beta1"}:
        raise UsageError(f"{where} {version!r} is unknown (v1, v1beta1)")
    return str(version)


def review_of(attributes: Attributes, version: str) -> Object:
    """Return the SubjectAccessReview that asks about attributes."""
    user = attributes.user
    spec: Object = {"user": user.name}
    if attributes.is_resource:
        names = ("namespace", "verb", "group", "version", "resource", "subresource", "name")
        found = {name: getattr(attributes, name) for name in names}
        spec["resourceAttributes"] = {name: value for name, value in found.items() if value}
    else:
        spec["nonResourceAttributes"] = {"path": attributes.path, "verb": attributes.verb}
    if user.uid:
        spec["uid"] = user.uid
    if user.groups:
        spec["groups" if version == "v1" else "group"] = list(user.groups)
    if user.extra:
        spec["extra"] = {key: list(values) for key, values in user.extra.items()}
    kind = {"apiVersion": f"authorization.k8s.io/{version}", "kind": "SubjectAccessReview"}
    return {**kind, "metadata": {}, "spec": spec}


class Webhook(Plugin):
    """Asks the server of ``--authorization-webhook-config-file``, or of its entry in ``--authorization-config``."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        table = context.settings
        self._settings = from_table(table, f"authorizer {context.name!r}") if table else from_flags(context.options)
        self._reviews = ReviewClient(self._settings.path, context.clock, timeout=self._settings.timeout)
        self._answers: dict[bytes, tuple[Decision, float]] = {}
        self._lock = threading.Lock()

    @hookimpl
    def authz_authorize(self, attributes: Attributes) -> Decision:
        """Ask, unless the answer is still fresh."""
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
            return Decision("deny" if self._settings.denies_on_failure else "no opinion", cacheable=False)
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
