"""The flowcontrol group: which requests wait for which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperkube_api.flowcontrol import tables
from hyperkube_api.flowcontrol.cluster_objects import cluster_objects
from hyperkube_api.flowcontrol.strategies import FlowSchemaStrategy, PriorityLevelConfigurationStrategy
from hyperkube_api.meta.specs import Version, columns

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time
from hyperkube.plugin import Plugin

V1 = Version("flowcontrol.apiserver.k8s.io", "v1", "hyperkube_api.flowcontrol.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "flowschemas",
            "FlowSchema",
            namespaced=False,
            storage_prefix="flowschemas",
            storage_version_hash="GJVAJZSZBIw=",
            strategy=FlowSchemaStrategy(),
            columns=columns(
                "PriorityLevel=spec.priorityLevelConfiguration.name",
                "MatchingPrecedence=spec.matchingPrecedence",
                "DistinguisherMethod=spec.distinguisherMethod",
                "Age",
                "MissingPL -- references a broken or non-existent PriorityLevelConfiguration",
            ),
            cells=tables.flow_schema,
            row_order=tables.flow_schema_order,
            subresources=(V1.status("FlowSchema"),),
        ),
        V1.resource(
            "prioritylevelconfigurations",
            "PriorityLevelConfiguration",
            namespaced=False,
            storage_prefix="prioritylevelconfigurations",
            storage_version_hash="Kir5PVfvNeI=",
            strategy=PriorityLevelConfigurationStrategy(),
            columns=columns(
                "Type=spec.type",
                "NominalConcurrencyShares=spec.limited.nominalConcurrencyShares",
                "Queues=spec.limited.limitResponse.queuing.queues",
                "HandSize=spec.limited.limitResponse.queuing.handSize",
                "QueueLengthLimit=spec.limited.limitResponse.queuing.queueLengthLimit",
                "Age",
            ),
            cells=tables.priority_level_configuration,
            subresources=(V1.status("PriorityLevelConfiguration"),),
        ),
    )


class FlowcontrolApi(Plugin):
    """The flowcontrol group: which requests wait for which."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve flowcontrol.apiserver.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="flowcontrol.apiserver.k8s.io",
                version="v1",
                resources=_v1(),
                group_priority=16_100,
                version_priority=21,
            ),
        ]

    @hookimpl
    def api_bootstrap_objects(self) -> Sequence[Object]:
        """Give every cluster the levels and schemas of its own components."""
        return list(cluster_objects(format_time(self.context.clock.now())))
