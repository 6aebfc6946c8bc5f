"""From a CustomResourceDefinition to the resources it serves.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/customresource_handler.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hyperkube_host.apiserver.custom.scale import scale_handler
from hyperkube_host.apiserver.resources.custom_codec import CustomCodec
from hyperkube_host.apiserver.resources.registry import version_key
from hyperkube_lib.webhooks.caller import Caller

from hyperkube.hookspecs.api import ApiGroupVersion, ObjectRules, ResourceSpec, Subresource
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube_host.apiserver.custom.conversion import Convert

VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_PART_VERBS = ("get", "patch", "update")
_SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
_SCALE_SCHEMA = "hyperkube_api.autoscaling.v1:Scale"
GROUP_PRIORITY, VERSION_PRIORITY = 1000, 100


def names_of(crd: Object) -> Object:
    """Return the names of a definition, with the defaults of those it leaves out."""
    names = crd["spec"]["names"]
    kind = names["kind"]
    return {
        **names,
        "singular": names.get("singular") or kind.lower(),
        "listKind": names.get("listKind") or f"{kind}List",
    }


def storage_version(crd: Object) -> str:
    """Return the version in which a definition's objects are stored."""
    return str(next(version["name"] for version in crd["spec"]["versions"] if version.get("storage")))


RulesOf = Callable[[Mapping[str, Any]], ObjectRules | None]
"""Compiles the rules of a schema."""


def no_rules(_schema: Mapping[str, Any]) -> ObjectRules | None:
    """Leave the rules of schemas alone."""
    return None


def group_versions(crd: Object, rules_of: RulesOf = no_rules, *, caller: Caller | None = None) -> list[ApiGroupVersion]:
    """Return the group versions that an established definition serves, its resource in each.

    `caller` posts to the definition's conversion webhook; without one, versions are converted by name alone.
    """
    group = crd["spec"]["group"]
    served = [version for version in crd["spec"]["versions"] if version.get("served")]
    codecs = {version["name"]: _codec(crd, version) for version in crd["spec"]["versions"]}
    convert = conversion_of(crd, caller)
    return [
        ApiGroupVersion(
            group=group,
            version=version["name"],
            resources=(_resource(crd, version, rules_of, codecs, convert),),
            group_priority=GROUP_PRIORITY,
            version_priority=VERSION_PRIORITY,
        )
        for version in served
    ]


def schema_of(version: Object) -> Mapping[str, Any]:
    """Return the schema of a version; one without a schema takes everything."""
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    return schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def conversion_of(crd: Object, caller: Caller | None) -> Convert:
    """Return how the versions of a definition are converted into each other."""
    from hyperkube_host.apiserver.custom.conversion import ByName, ByWebhook

    conversion = crd["spec"].get("conversion") or {}
    if conversion.get("strategy") != "Webhook" or caller is None:
        return ByName()
    return ByWebhook(conversion.get("webhook") or {}, caller)


def _codec(crd: Object, version: Object) -> CustomCodec:
    spec = crd["spec"]
    kind = GroupVersionKind(spec["group"], version["name"], names_of(crd)["kind"])
    changed = (crd["metadata"].get("generation") or 0) > 1
    keeps = bool(spec.get("preserveUnknownFields"))
    return CustomCodec(kind, schema_of(version), keeps_unknown=keeps, reshapes=changed)


def _resource(
    crd: Object, version: Object, rules_of: RulesOf, codecs: Mapping[str, CustomCodec], convert: Convert
) -> ResourceSpec:
    from hyperkube_host.apiserver.custom.columns import cells_of, columns_of
    from hyperkube_host.apiserver.custom.conversion import FromStorage, ToStorage
    from hyperkube_host.apiserver.custom.strategy import CustomStrategy
    from hyperkube_lib.structural_schema.validation import has_rules

    spec, names = crd["spec"], names_of(crd)
    codec = codecs[version["name"]]
    kind = codec.kind
    from_storage = FromStorage(convert, codecs, kind) if len(codecs) > 1 else None
    rules = rules_of(codec.json_schema) if has_rules(codec.json_schema) else None
    parts = version.get("subresources") or {}
    columns = version.get("additionalPrinterColumns") or []
    selectable = [str(field["jsonPath"]) for field in version.get("selectableFields") or []]
    stored = kind._replace(version=storage_version(crd))
    return ResourceSpec(
        resource=GroupVersionResource(spec["group"], version["name"], names["plural"]),
        kind=kind,
        singular=names["singular"],
        namespaced=spec["scope"] == "Namespaced",
        verbs=VERBS,
        schema=codec,
        list_kind=names["listKind"],
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        storage_kind=stored,
        storage_prefix=f"{spec['group']}/{names['plural']}",
        to_storage=ToStorage(convert, codecs[stored.version]) if stored != kind else None,
        from_storage=from_storage,
        from_storage_all=from_storage.all if from_storage is not None and convert.waits else None,
        strategy=CustomStrategy(codec, has_status="status" in parts, rules=rules, scale=parts.get("scale")),
        columns=columns_of(columns),
        cells=cells_of(columns) if columns else None,
        fields={path.lstrip("."): _reader(path) for path in selectable},
        subresources=_subresources(kind, parts),
        deprecated=_deprecation(crd, kind, version),
    )


def _deprecation(crd: Object, kind: GroupVersionKind, version: Object) -> str:
    """Return the warning of a deprecated version: its own, or one that names the newest version to use instead."""
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning"):
        return str(version["deprecationWarning"])
    usable = [one["name"] for one in crd["spec"]["versions"] if one.get("served") and not one.get("deprecated")]
    newest = min((kind.version, *usable), key=version_key)
    text = f"{kind.group}/{kind.version} {kind.kind} is deprecated"
    return text if newest == kind.version else f"{text}; use {kind.group}/{newest} {kind.kind}"


def _reader(path: str) -> Callable[[Object], str]:
    from hyperkube_host.apiserver.custom.json_path import first

    def read(obj: Object) -> str:
        value = first(obj, path)
        if value is None:
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)

    return read


def _subresources(kind: GroupVersionKind, parts: Object) -> tuple[Subresource, ...]:
    found: list[Subresource] = []
    if "status" in parts:
        found.append(Subresource(name="status", kind=kind, verbs=_PART_VERBS))
    if "scale" in parts:
        handler = scale_handler(kind.group_kind, parts["scale"])
        path = tuple(str(parts["scale"].get("specReplicasPath", "")).strip(".").split("."))
        scale = Subresource(
            name="scale",
            kind=_SCALE,
            verbs=_PART_VERBS,
            schema=_SCALE_SCHEMA,
            handler=handler,
            replicas_path=path,
        )
        found.append(scale)
    return tuple(found)
