"""The apps group: sets of pods that replace one another."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.apps import tables
from hyperkube_api.apps.strategies import (
    ControllerRevisionStrategy,
    DaemonSetStrategy,
    DeploymentStrategy,
    ReplicaSetStrategy,
    StatefulSetStrategy,
)
from hyperkube_api.core.scale import scale
from hyperkube_api.meta.specs import Version, columns

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("apps", "v1", "hyperkube_api.apps.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "controllerrevisions",
            "ControllerRevision",
            storage_prefix="controllerrevisions",
            storage_version_hash="85nkx63pcBU=",
            strategy=ControllerRevisionStrategy(),
            columns=columns("Controller -- Controller of the object", "Revision=revision", "Age"),
            cells=tables.controller_revision,
        ),
        V1.resource(
            "daemonsets",
            "DaemonSet",
            short_names=("ds",),
            categories=("all",),
            storage_prefix="daemonsets",
            storage_version_hash="dd7pWHUlMKQ=",
            strategy=DaemonSetStrategy(),
            columns=columns(
                "Desired:integer=status.desiredNumberScheduled",
                "Current:integer=status.currentNumberScheduled",
                "Ready:integer=status.numberReady",
                "Up-to-date:integer=status.updatedNumberScheduled",
                "Available:integer=status.numberAvailable",
                "Node Selector=spec.template.spec.nodeSelector",
                "Age",
                "+Containers -- Names of each container in the template.",
                "+Images -- Images referenced by each container in the template.",
                "+Selector=spec.selector",
            ),
            cells=tables.daemon_set,
            own_annotations=frozenset({"deprecated.daemonset.template.generation"}),
            subresources=(V1.status("DaemonSet"),),
        ),
        V1.resource(
            "deployments",
            "Deployment",
            short_names=("deploy",),
            categories=("all",),
            storage_prefix="deployments",
            storage_version_hash="8aSe+NMegvE=",
            strategy=DeploymentStrategy(),
            columns=columns(
                "Ready -- Number of the pod with ready state",
                "Up-to-date=status.updatedReplicas",
                "Available=status.availableReplicas",
                "Age",
                "+Containers -- Names of each container in the template.",
                "+Images -- Images referenced by each container in the template.",
                "+Selector=spec.selector",
            ),
            cells=tables.deployment,
            subresources=(
                scale(V1, "deployments"),
                V1.status("Deployment"),
            ),
        ),
        V1.resource(
            "replicasets",
            "ReplicaSet",
            short_names=("rs",),
            categories=("all",),
            storage_prefix="replicasets",
            storage_version_hash="P1RzHs8/mWQ=",
            strategy=ReplicaSetStrategy(),
            columns=columns(
                "Desired:integer=spec.replicas",
                "Current:integer=status.replicas",
                "Ready:integer=status.readyReplicas",
                "Age",
                "+Containers -- Names of each container in the template.",
                "+Images -- Images referenced by each container in the template.",
                "+Selector=spec.selector",
            ),
            cells=tables.replica_set,
            subresources=(
                scale(V1, "replicasets"),
                V1.status("ReplicaSet"),
            ),
        ),
        V1.resource(
            "statefulsets",
            "StatefulSet",
            short_names=("sts",),
            categories=("all",),
            storage_prefix="statefulsets",
            storage_version_hash="H+vl74LkKdo=",
            strategy=StatefulSetStrategy(),
            columns=columns(
                "Ready -- Number of the pod with ready state",
                "Age",
                "+Containers -- Names of each container in the template.",
                "+Images -- Images referenced by each container in the template.",
            ),
            cells=tables.stateful_set,
            subresources=(
                scale(V1, "statefulsets"),
                V1.status("StatefulSet"),
            ),
        ),
    )


class AppsApi(Plugin):
    """The apps group: sets of pods that replace one another."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve apps/v1."""
        return [
            ApiGroupVersion(group="apps", version="v1", resources=_v1(), group_priority=17_800, version_priority=15),
        ]
