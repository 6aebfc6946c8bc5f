"""Validation of the conversion between the versions of a definition.

Source: kubernetes apiextensions-apiserver ``pkg/apis/apiextensions/validation/validation.go``.
"""

from __future__ import annotations

import ssl
from base64 import b64decode
from collections.abc import Iterator, Sequence

from hyperkube_api.apiextensions.validation.internal import Spec
from hyperkube_api.meta.webhook_clients import client_config

from hyperkube.machinery import names
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object

_STRATEGIES = ("None", "Webhook")
_REVIEW_VERSIONS = ("v1", "v1beta1")


@dataclass(frozen=True, slots=True)
class WebhookOptions:
    """What is required of a conversion webhook; what was wrong before may stay wrong.

    Attributes:
        known_reviews: require a version of ConversionReview that this server sends.
        any_bundle: accept an invalid CA bundle: the definition is not served yet, or its bundle was invalid before.
    """

    known_reviews: bool = True
    any_bundle: bool = True


def webhook_options_after(old: Object) -> WebhookOptions:
    """Return what is required of the webhook of a definition that is to replace `old`."""
    webhook = (old["spec"].get("conversion") or {}).get("webhook") or {}
    reviews = webhook.get("conversionReviewVersions") or ()
    conditions = (old.get("status") or {}).get("conditions") or ()
    established = any(one.get("type") == "Established" and one.get("status") == "True" for one in conditions)
    bundle = (webhook.get("clientConfig") or {}).get("caBundle") or ""
    was_none = bool(bundle and ca_bundle(Path("caBundle"), bundle))
    return WebhookOptions(not reviews or bool(set(_REVIEW_VERSIONS) & set(reviews)), not established or was_none)


def ca_bundle(path: Path, bundle: str) -> list[FieldError]:
    """Check that a bundle, given as base64, has certificates.

    Source: kubernetes apiserver ``pkg/util/webhook/validation.go``, client-go ``transport/transport.go``.
    """
    try:
        text = b64decode(bundle).decode("ascii")
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=text)
    except (ValueError, ssl.SSLError):
        return [invalid(path, bundle, "unable to load root certificates: unable to parse bytes as PEM block")]
    return []


def conversion(path: Path, spec: Spec, webhook_options: WebhookOptions) -> Iterator[FieldError]:
    """Check the conversion of a definition."""
    declared = spec.conversion
    if declared is None:
        return
    strategy, webhook = declared.get("strategy") or "", declared.get("webhook") or {}
    at = path.child("strategy")
    if strategy != "None" and spec.preserves_unknown_fields:
        yield invalid(at, strategy, "must be None if spec.preserveUnknownFields is true")
    if strategy not in _STRATEGIES:
        yield not_supported(at, strategy, _STRATEGIES) if strategy else required(at)
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if strategy != "Webhook":
        text = "should not be set when strategy is not set to Webhook"
        if client is not None:
            yield forbidden(path.child("webhookClientConfig"), text)
        if reviews:
            yield forbidden(path.child("conversionReviewVersions"), text)
        return
    at = path.child("webhookClientConfig")
    if client is None:
        yield required(at, "required when strategy is set to Webhook")
    else:
        yield from client_config(at, client)
        if client.get("caBundle") and not webhook_options.any_bundle:
            yield from ca_bundle(at.child("caBundle"), client["caBundle"])
    yield from _reviews(path.child("conversionReviewVersions"), reviews, known=webhook_options.known_reviews)


def _reviews(path: Path, versions: Sequence[str], *, known: bool) -> Iterator[FieldError]:
    if not versions:
        yield required(path)
        return
    seen: set[str] = set()
    for index, version in enumerate(versions):
        if version in seen:
            yield invalid(path.index(index), version, "duplicate version")
            continue
        seen.add(version)
        yield from (invalid(path.index(index), version, text) for text in names.dns1035_label(version))
    if known and not seen & set(_REVIEW_VERSIONS):
        yield invalid(path, list(versions), f"must include at least one of {', '.join(_REVIEW_VERSIONS)}")
