"""apiextensions.k8s.io/v1beta1: kinds that users define, for which a schema is optional.

Source: kubernetes v1.21 apiextensions-apiserver ``pkg/apis/apiextensions/v1beta1/{conversion,defaults}.go``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hyperkube_api.apiextensions.resources import ApiextensionsApi
from hyperkube_api.meta.older_versions import Differences, Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

_GROUP = "apiextensions.k8s.io"
_V1BETA1 = OlderVersion(
    version=Version(_GROUP, "v1beta1", "hyperkube_api.legacy_access.schemas.apiextensions_v1beta1"),
    lifecycle=Lifecycle(16, 22, f"{_GROUP}/v1"),
)
_SHARED = {
    "validation": "schema",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}
"""What stands beside the versions → what it is called within one."""


def newer_definition(definition: Object) -> Object:
    """Return a definition in which every version has its own schema, columns and subresources."""
    spec = dict(definition.get("spec") or {})
    shared = {name: value for old, name in _SHARED.items() if (value := spec.pop(old, None)) is not None}
    single = spec.pop("version", "")
    versions = spec.get("versions") or ([{"name": single, "served": True, "storage": True}] if single else [])
    spec["versions"] = [_columns({**shared, **version}, "JSONPath", "jsonPath") for version in versions]
    if not spec.get("preserveUnknownFields"):
        spec.pop("preserveUnknownFields", None)
    if spec.get("conversion") is not None:
        spec["conversion"] = _newer_conversion(spec["conversion"])
    return {**definition, "spec": spec}


def older_definition(definition: Object) -> Object:
    """Return a definition in which what all versions share stands beside them."""
    spec = dict(definition.get("spec") or {})
    versions = [_columns(version, "jsonPath", "JSONPath") for version in spec.get("versions") or ()]
    if versions:
        spec["version"] = versions[0]["name"]
    for old, name in _SHARED.items():
        values = [version.get(name) for version in versions]
        if versions and values[0] is not None and all(value == values[0] for value in values):
            spec[old] = values[0]
            versions = [{key: value for key, value in version.items() if key != name} for version in versions]
    spec["versions"] = versions
    spec["preserveUnknownFields"] = bool(spec.get("preserveUnknownFields"))
    if spec.get("conversion") is not None:
        spec["conversion"] = _older_conversion(spec["conversion"])
    return {**definition, "spec": spec}


def _columns(version: Object, old: str, new: str) -> Object:
    columns = version.get("additionalPrinterColumns")
    if not columns:
        return version
    renamed = [{(new if name == old else name): value for name, value in column.items()} for column in columns]
    return {**version, "additionalPrinterColumns": renamed}


def _newer_conversion(conversion: Object) -> Object:
    webhook: dict[str, Any] = {}
    if conversion.get("webhookClientConfig") is not None:
        webhook["clientConfig"] = conversion["webhookClientConfig"]
    if conversion.get("conversionReviewVersions"):
        webhook["conversionReviewVersions"] = conversion["conversionReviewVersions"]
    new: Object = {"strategy": conversion.get("strategy") or ""}
    return {**new, "webhook": {"conversionReviewVersions": None, **webhook}} if webhook else new


def _older_conversion(conversion: Object) -> Object:
    webhook = conversion.get("webhook") or {}
    old: Object = {"strategy": conversion.get("strategy") or ""}
    if webhook.get("clientConfig") is not None:
        old["webhookClientConfig"] = webhook["clientConfig"]
    if webhook.get("conversionReviewVersions"):
        old["conversionReviewVersions"] = webhook["conversionReviewVersions"]
    return old


def default_definition(definition: Object) -> None:
    """Fill in the defaults of v1beta1: undeclared fields are preserved, and conversion reviews are v1beta1."""
    spec: Object = definition["spec"]
    if not spec.get("scope"):
        spec["scope"] = "Namespaced"
    if spec.get("preserveUnknownFields") is None:
        spec["preserveUnknownFields"] = True
    if not spec.get("versions") and spec.get("version"):
        spec["versions"] = [{"name": spec["version"], "served": True, "storage": True}]
    if not spec.get("version") and spec.get("versions"):
        spec["version"] = spec["versions"][0]["name"]
    conversion = spec.get("conversion")
    if conversion and conversion.get("strategy") == "Webhook" and not conversion.get("conversionReviewVersions"):
        conversion["conversionReviewVersions"] = ["v1beta1"]


def is_error(error: FieldError) -> bool:
    """Return whether an error applies: v1beta1 allows schemas that are missing or not structural."""
    path = str(error.path)
    return not (path == "spec.preserveUnknownFields" or "openAPIV3Schema" in path)


class LegacyApiextensionsApi(Plugin):
    """apiextensions.k8s.io/v1beta1: kinds that users define, for which a schema is optional."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve apiextensions.k8s.io/v1beta1 where it is asked for."""
        newer = newest_resources(ApiextensionsApi, self.context)
        differences = Differences(
            newer=newer_definition, older=older_definition, default=default_definition, accept=is_error
        )
        definitions = _V1BETA1.resource(newer["customresourcedefinitions"], differences)
        return [_V1BETA1.group_version([definitions], group_priority=16_700, version_priority=9)]
