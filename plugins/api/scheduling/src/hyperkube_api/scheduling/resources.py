"""The scheduling group: which pods matter more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperkube_api.meta.specs import Version, columns
from hyperkube_api.scheduling import tables
from hyperkube_api.scheduling.strategies import SYSTEM_CLASSES, PriorityClassStrategy

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

V1 = Version("scheduling.k8s.io", "v1", "hyperkube_api.scheduling.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "priorityclasses",
            "PriorityClass",
            namespaced=False,
            short_names=("pc",),
            storage_prefix="priorityclasses",
            storage_version_hash="1QwjyaZjj3Y=",
            strategy=PriorityClassStrategy(),
            columns=columns("Value:integer", "Global-Default:boolean", "Age", "PreemptionPolicy"),
            cells=tables.priority_class,
        ),
    )


class SchedulingApi(Plugin):
    """The scheduling group: which pods matter more."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve scheduling.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="scheduling.k8s.io", version="v1", resources=_v1(), group_priority=16_600, version_priority=15
            ),
        ]

    @hookimpl
    def api_bootstrap_objects(self) -> Sequence[Object]:
        """Give every cluster the classes of its own components."""
        return [
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
                "description": description,
            }
            for name, value, description in SYSTEM_CLASSES
        ]
