"""ImagePolicyWebhook: an external service decides which images may run, asked with an ImageReview.

The settings say what counts when the service does not answer, and for how long answers are remembered.
Source: kubernetes ``plugin/pkg/admission/imagepolicy``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import field
from typing import Any

import orjson
from hyperkube_lib.webhooks.review import ReviewClient, WebhookFailed

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import spec_of
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import Forbidden, UsageError
from hyperkube.machinery.objects import Object, metadata
from hyperkube.plugin import Plugin, PluginContext
from hyperkube.plugin.configuration import check_keys

_KEYS = ("kubeConfigFile", "allowTTL", "denyTTL", "retryBackoff", "defaultAllow")
_ANNOTATIONS = ".image-policy.k8s.io/"
_PREFIX = "imagepolicywebhook.image-policy.k8s.io/"
_CACHE_MAX = 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings, as in Kubernetes' file.

    Attributes:
        imagePolicy: ``kubeConfigFile``; ``allowTTL`` and ``denyTTL`` in seconds; ``retryBackoff`` in milliseconds;
            ``defaultAllow``, what counts when the service does not answer.
    """

    imagePolicy: Mapping[str, Any] = field(default_factory=dict)  # noqa: N815  Kubernetes' spelling


def _bounded(table: Mapping[str, Any], key: str, default: float, low: float, high: float) -> float:
    """Return a time of the settings; -1 turns what it is for off.

    Raises:
        UsageError: it is out of bounds.
    """
    value = table.get(key) or default
    if value == -1:
        return 0.0
    if not isinstance(value, int | float) or not low <= value <= high:
        raise UsageError(f"settings of plugin 'ImagePolicyWebhook': {key} {value!r} must be from {low:g} to {high:g}")
    return float(value)


def review_of(pod: Object, namespace: str) -> Object:
    """Return the ImageReview that asks about a pod."""
    spec = spec_of(pod)
    groups = ("containers", "initContainers", "ephemeralContainers")
    images = [{"image": row.get("image", "")} for group in groups for row in spec.get(group) or ()]
    given = metadata(pod).get("annotations") or {}
    annotations = {key: value for key, value in given.items() if _ANNOTATIONS in key}
    asked: Object = {"containers": images, "namespace": namespace}
    if annotations:
        asked["annotations"] = annotations
    return {"apiVersion": "imagepolicy.k8s.io/v1alpha1", "kind": "ImageReview", "metadata": {}, "spec": asked}


class ImagePolicyWebhook(Plugin):
    """Refuses pods whose images the server of ``kubeConfigFile`` does not allow."""

    handles = frozenset({"pods", "pods/ephemeralcontainers"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        table = check_keys(self.settings(Settings).imagePolicy, _KEYS, "imagePolicy")
        if not table.get("kubeConfigFile"):
            raise UsageError("settings of plugin 'ImagePolicyWebhook': imagePolicy.kubeConfigFile is required")
        self._yes = _bounded(table, "allowTTL", 300, 1, 1800)
        self._no = _bounded(table, "denyTTL", 30, 1, 1800)
        self._allows_unasked = bool(table.get("defaultAllow"))
        wait = _bounded(table, "retryBackoff", 500, 1, 300_000) / 1000
        self._reviews = ReviewClient(str(table["kubeConfigFile"]), context.clock, first_wait=wait)
        self._answers: dict[bytes, tuple[Object, float]] = {}
        self._lock = threading.Lock()

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Ask about the images of a pod that is written, unless the answer is still fresh."""
        if not request.writes("pods") and not request.writes("pods", subresource="ephemeralcontainers"):
            return
        review = review_of(request.written(), request.namespace)
        key = orjson.dumps(review["spec"], option=orjson.OPT_SORT_KEYS)
        now = self.context.clock.monotonic()
        status, until = self._answers.get(key, ({}, 0.0))
        if until <= now:
            try:
                status = self._reviews.post(review).get("status") or {}
            except WebhookFailed as error:
                self._unasked(request, error)
                return
            with self._lock:
                if len(self._answers) >= _CACHE_MAX:
                    self._answers.clear()
                self._answers[key] = status, now + (self._yes if status.get("allowed") else self._no)
        for name, value in (status.get("auditAnnotations") or {}).items():
            request.annotations[_PREFIX + name] = str(value)
        if not status.get("allowed"):
            reason = status.get("reason")
            why = f": {reason}" if reason else ""
            raise Forbidden(f"image policy webhook backend denied one or more images{why}")

    def _unasked(self, request: AdmissionRequest, error: WebhookFailed) -> None:
        if not self._allows_unasked:
            raise Forbidden(str(error)) from error
        self.context.logger.warning("images run without a review: %s", error)
        request.annotations[_PREFIX + "failed-open"] = "true"

    def close(self) -> None:
        """Close the connections."""
        self._reviews.close()
