"""The scheduling group: which pods matter more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperkube_api.meta.specs import Version, columns
from hyperkube_api.scheduling import tables
from hyperkube_api.scheduling.groups import PodGroupStrategy, WorkloadStrategy
from hyperkube_api.scheduling.strategies import SYSTEM_CLASSES, PriorityClassStrategy

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

V1 = Version("scheduling.k8s.io", "v1", "hyperkube_api.scheduling.v1")
GATE = "GenericWorkload"
V1ALPHA2 = Version("scheduling.k8s.io", "v1alpha2", "hyperkube_api.scheduling.v1alpha2")


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
            columns=columns(
                "Value:integer=value",
                "Global-Default:boolean=globalDefault",
                "Age",
                "PreemptionPolicy=preemptionPolicy",
            ),
            cells=tables.priority_class,
        ),
    )


def _v1alpha2() -> tuple[ResourceSpec, ...]:
    return (
        V1ALPHA2.resource(
            "podgroups",
            "PodGroup",
            served=False,
            storage_prefix="podgroups",
            storage_version_hash="YYgX3v5V204=",
            strategy=PodGroupStrategy(),
            columns=columns("Policy", "Workload", "Status", "Age"),
            cells=tables.pod_group,
            subresources=(V1ALPHA2.status("PodGroup"),),
        ),
        V1ALPHA2.resource(
            "workloads",
            "Workload",
            served=False,
            storage_prefix="workloads",
            storage_version_hash="vSX7gJe5Mx8=",
            strategy=WorkloadStrategy(),
            columns=columns("Age"),
            cells=tables.workload,
        ),
    )


class SchedulingApi(Plugin):
    """The scheduling group: which pods matter more."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve scheduling.k8s.io/v1; v1alpha2 with the feature gate GenericWorkload, where it is asked for."""
        v1alpha2 = ApiGroupVersion(
            group="scheduling.k8s.io",
            version="v1alpha2",
            resources=_v1alpha2(),
            group_priority=16_600,
            version_priority=2,
        )
        more = [v1alpha2] if self.context is not None and self.context.gates.get(GATE) else []
        return [
            ApiGroupVersion(
                group="scheduling.k8s.io", version="v1", resources=_v1(), group_priority=16_600, version_priority=15
            ),
            *more,
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
