"""The apiextensions group: kinds that users define."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hyperkube_api.apiextensions.strategy import CustomResourceDefinitionStrategy
from hyperkube_api.meta.columns import NAME, column
from hyperkube_api.meta.specs import OnFirstUse, Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ObjectRules, ResourceSpec
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.plugin import Plugin

V1 = Version("apiextensions.k8s.io", "v1", "hyperkube_api.apiextensions.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "customresourcedefinitions",
            "CustomResourceDefinition",
            namespaced=False,
            short_names=("crd", "crds"),
            categories=("api-extensions",),
            storage_prefix="apiextensions.k8s.io/customresourcedefinitions",
            storage_version_hash="jfWCUB31mvA=",
            storage_kind=GroupVersionKind("apiextensions.k8s.io", "v1beta1", "CustomResourceDefinition"),
            strategy=CustomResourceDefinitionStrategy(),
            columns=(NAME, column("Created At", type="date")),
            cells=OnFirstUse("hyperkube_api.apiextensions.table:custom_resource_definition_cells"),
            subresources=(V1.status("CustomResourceDefinition"),),
        ),
    )


class ApiextensionsApi(Plugin):
    """The apiextensions group: kinds that users define."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve apiextensions.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="apiextensions.k8s.io", version="v1", resources=_v1(), group_priority=16_700, version_priority=15
            ),
        ]

    @hookimpl
    def api_object_rules(self, schema: Mapping[str, Any]) -> ObjectRules | None:
        """Compile the rules of a custom resource."""
        from hyperkube_api.apiextensions.cel.validation import SchemaRules

        return SchemaRules(schema)
