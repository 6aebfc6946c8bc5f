"""The node group: how a node may run a pod."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse, Version
from hyperkube_api.node.strategy import RuntimeClassStrategy

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("node.k8s.io", "v1", "hyperkube_api.node.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "runtimeclasses",
            "RuntimeClass",
            namespaced=False,
            storage_prefix="runtimeclasses",
            storage_version_hash="WQTu1GL3T2Q=",
            strategy=RuntimeClassStrategy(),
            columns=(NAME, column("Handler"), AGE),
            cells=OnFirstUse("hyperkube_api.node.table:runtime_class_cells"),
        ),
    )


class NodeApi(Plugin):
    """The node group: how a node may run a pod."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve node.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="node.k8s.io", version="v1", resources=_v1(), group_priority=16_300, version_priority=15
            ),
        ]
