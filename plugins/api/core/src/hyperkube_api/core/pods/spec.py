"""How the API server serves pods."""

from __future__ import annotations

from hyperkube_api.core.pods.fields import pod_fields
from hyperkube_api.core.pods.strategy import EphemeralContainersStrategy, PodStrategy, ResizeStrategy
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import CREATE_ONLY, PROXY_VERBS, OnFirstUse, connect

from hyperkube.hookspecs.api import ResourceSpec, Subresource
from hyperkube.machinery.groups import GroupVersionKind

_RESTARTS = (
    "The number of times the containers in this pod have been restarted and when the last container in this pod has "
    "restarted."
)


def pods() -> ResourceSpec:
    """Return the specification of the resource ``pods``."""
    return V1.resource(
        "pods",
        "Pod",
        short_names=("po",),
        categories=("all",),
        storage_prefix="pods",
        storage_version_hash="xPOwRZ+Yhw8=",
        strategy=PodStrategy(),
        columns=(
            NAME,
            column("Ready", description="The aggregate readiness state of this pod for accepting traffic."),
            column("Status", description="The aggregate status of the containers in this pod."),
            column("Restarts", description=_RESTARTS),
            AGE,
            column("IP", priority=1, field="status.podIP"),
            column("Node", priority=1, field="spec.nodeName"),
            column("Nominated Node", priority=1, field="status.nominatedNodeName"),
            column("Readiness Gates", priority=1, field="spec.readinessGates"),
        ),
        cells=OnFirstUse("hyperkube_api.core.pods.table:pod_cells"),
        row_conditions=OnFirstUse("hyperkube_api.core.pods.table:row_conditions"),
        fields=pod_fields(),
        indexes=("spec.nodeName",),
        subresources=_subresources(),
    )


def _subresources() -> tuple[Subresource, ...]:
    return (
        connect("attach", V1.kind("PodAttachOptions"), ("create", "get")),
        Subresource(
            name="binding",
            kind=V1.kind("Binding"),
            verbs=CREATE_ONLY,
            schema=V1.schema("Binding"),
            handler=OnFirstUse("hyperkube_api.core.pods.binding:bind"),
        ),
        V1.part("ephemeralcontainers", "Pod", EphemeralContainersStrategy()),
        Subresource(
            name="eviction",
            kind=GroupVersionKind("policy", "v1", "Eviction"),
            verbs=CREATE_ONLY,
            schema="hyperkube_api.policy.v1:Eviction",
            also_accepts=(GroupVersionKind("policy", "v1beta1", "Eviction"),),
            handler=OnFirstUse("hyperkube_api.core.pods.eviction:evict"),
        ),
        connect("exec", V1.kind("PodExecOptions"), ("create", "get")),
        connect("log", V1.kind("Pod"), ("get",)),
        connect("portforward", V1.kind("PodPortForwardOptions"), ("create", "get")),
        connect("proxy", V1.kind("PodProxyOptions"), PROXY_VERBS),
        V1.part("resize", "Pod", ResizeStrategy()),
        V1.status("Pod"),
    )
