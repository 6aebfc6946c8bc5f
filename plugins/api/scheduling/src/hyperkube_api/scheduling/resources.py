"""The scheduling group: which pods matter more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperkube_api.scheduling.pod_groups import pod_groups
from hyperkube_api.scheduling.priority_classes import SYSTEM_CLASSES, priority_classes
from hyperkube_api.scheduling.workloads import workloads

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

GATE = "GenericWorkload"


class SchedulingApi(Plugin):
    """The scheduling group: which pods matter more."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve scheduling.k8s.io/v1; v1alpha2 with the feature gate GenericWorkload, where it is asked for."""
        v1alpha2 = ApiGroupVersion(
            group="scheduling.k8s.io",
            version="v1alpha2",
            resources=(pod_groups(), workloads()),
            group_priority=16_600,
            version_priority=2,
        )
        more = [v1alpha2] if self.context is not None and self.context.gates.get(GATE) else []
        return [
            ApiGroupVersion(
                group="scheduling.k8s.io",
                version="v1",
                resources=(priority_classes(),),
                group_priority=16_600,
                version_priority=15,
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
