"""The core group: pods and what they run on, are given, and are reached by."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.core import tables
from hyperkube_api.core.event_fields import core_event_fields, event_ttl
from hyperkube_api.core.handlers.bindings import bind, bind_by_body
from hyperkube_api.core.handlers.component_statuses import component_statuses
from hyperkube_api.core.handlers.eviction import EVICTION
from hyperkube_api.core.handlers.tokens import TOKEN
from hyperkube_api.core.pod_fields import pod_fields
from hyperkube_api.core.scale import scale
from hyperkube_api.core.service_addresses import ServiceAddresses
from hyperkube_api.core.strategies.cluster import NamespaceFinalizeStrategy, NamespaceStrategy, NodeStrategy
from hyperkube_api.core.strategies.configuration import ConfigMapStrategy, SecretStrategy, ServiceAccountStrategy
from hyperkube_api.core.strategies.events import EventStrategy
from hyperkube_api.core.strategies.limits import LimitRangeStrategy, ResourceQuotaStrategy
from hyperkube_api.core.strategies.pods import EphemeralContainersStrategy, PodStrategy, ResizeStrategy
from hyperkube_api.core.strategies.services import EndpointsStrategy, ServiceStrategy
from hyperkube_api.core.strategies.volumes import PersistentVolumeClaimStrategy, PersistentVolumeStrategy
from hyperkube_api.core.strategies.workloads import PodTemplateStrategy, ReplicationControllerStrategy
from hyperkube_api.meta.specs import CREATE_ONLY, PROXY_VERBS, Version, columns, connect, fields

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec, Subresource
from hyperkube.plugin import Plugin

V1 = Version("", "v1", "hyperkube_api.core.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "bindings",
            "Binding",
            verbs=CREATE_ONLY,
            create=bind_by_body,
        ),
        V1.resource(
            "componentstatuses",
            "ComponentStatus",
            namespaced=False,
            verbs=("get", "list"),
            short_names=("cs",),
            columns=columns(
                "Status -- Whether the component is healthy.",
                "Message -- What the component said.",
                "Error -- What went wrong.",
            ),
            cells=tables.component_status,
            read=component_statuses,
            deprecated="v1 ComponentStatus is deprecated in v1.19+",
        ),
        V1.resource(
            "configmaps",
            "ConfigMap",
            short_names=("cm",),
            storage_prefix="configmaps",
            storage_version_hash="qFsyl6wFWjQ=",
            strategy=ConfigMapStrategy(),
            columns=columns("Data=data", "Age"),
            cells=tables.config_map,
        ),
        V1.resource(
            "endpoints",
            "Endpoints",
            short_names=("ep",),
            storage_prefix="services/endpoints",
            storage_version_hash="fWeeMqaN/OA=",
            strategy=EndpointsStrategy(),
            columns=columns("Endpoints=subsets", "Age"),
            cells=tables.endpoints,
            deprecated="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
        ),
        V1.resource(
            "events",
            "Event",
            short_names=("ev",),
            storage_prefix="events",
            storage_version_hash="r2yiGXH7wu8=",
            strategy=EventStrategy(),
            columns=columns(
                "Last Seen=lastTimestamp",
                "Type=type",
                "Reason=reason",
                "Object=involvedObject",
                "+Subobject=involvedObject.fieldPath",
                "+Source=source",
                "Message=message",
                "+First Seen=firstTimestamp",
                "+Count=count",
                "+Name:string:name",
                named=False,
            ),
            cells=tables.event,
            fields=core_event_fields(),
            ttl_seconds=event_ttl,
        ),
        V1.resource(
            "limitranges",
            "LimitRange",
            short_names=("limits",),
            storage_prefix="limitranges",
            storage_version_hash="EBKMFVe6cwo=",
            strategy=LimitRangeStrategy(),
            columns=columns("Created At:date"),
            cells=tables.limit_range,
        ),
        V1.resource(
            "namespaces",
            "Namespace",
            namespaced=False,
            verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
            short_names=("ns",),
            storage_prefix="namespaces",
            storage_version_hash="Q3oi5N2YM8M=",
            strategy=NamespaceStrategy(),
            columns=columns("Status -- The status of the namespace", "Age"),
            cells=tables.namespace,
            fields=fields("status.phase"),
            subresources=(
                V1.part("finalize", "Namespace", NamespaceFinalizeStrategy(), ("update",)),
                V1.status("Namespace"),
            ),
        ),
        V1.resource(
            "nodes",
            "Node",
            namespaced=False,
            short_names=("no",),
            storage_prefix="minions",
            storage_version_hash="XwShjMxG9Fs=",
            strategy=NodeStrategy(),
            columns=columns(
                "Status -- The status of the node",
                "Roles -- The roles of the node",
                "Age",
                "Version=status.nodeInfo.kubeletVersion",
                "+Internal-IP=status.addresses",
                "+External-IP=status.addresses",
                "+OS-Image=status.nodeInfo.osImage",
                "+Kernel-Version=status.nodeInfo.kernelVersion",
                "+Container-Runtime=status.nodeInfo.containerRuntimeVersion",
            ),
            cells=tables.node,
            fields=fields(flags=("spec.unschedulable",)),
            subresources=(
                connect("proxy", V1.kind("NodeProxyOptions"), PROXY_VERBS),
                V1.status("Node"),
            ),
        ),
        V1.resource(
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            short_names=("pvc",),
            storage_prefix="persistentvolumeclaims",
            storage_version_hash="QWTyNDq0dC4=",
            strategy=PersistentVolumeClaimStrategy(),
            columns=columns(
                "Status=status.phase",
                "Volume=spec.volumeName",
                "Capacity=status.capacity",
                "Access Modes=status.accessModes",
                "StorageClass -- StorageClass of the pvc",
                "VolumeAttributesClass -- VolumeAttributesClass of the pvc",
                "Age",
                "+VolumeMode=spec.volumeMode",
            ),
            cells=tables.persistent_volume_claim,
            subresources=(V1.status("PersistentVolumeClaim"),),
        ),
        V1.resource(
            "persistentvolumes",
            "PersistentVolume",
            namespaced=False,
            short_names=("pv",),
            storage_prefix="persistentvolumes",
            storage_version_hash="HN/zwEC+JgM=",
            strategy=PersistentVolumeStrategy(),
            columns=columns(
                "Capacity=spec.capacity",
                "Access Modes=spec.accessModes",
                "Reclaim Policy=spec.persistentVolumeReclaimPolicy",
                "Status=status.phase",
                "Claim=spec.claimRef",
                "StorageClass -- StorageClass of the pv",
                "VolumeAttributesClass -- VolumeAttributesClass of the pv",
                "Reason=status.reason",
                "Age",
                "+VolumeMode=spec.volumeMode",
            ),
            cells=tables.persistent_volume,
            subresources=(V1.status("PersistentVolume"),),
        ),
        V1.resource(
            "pods",
            "Pod",
            short_names=("po",),
            categories=("all",),
            storage_prefix="pods",
            storage_version_hash="xPOwRZ+Yhw8=",
            strategy=PodStrategy(),
            columns=columns(
                "Ready -- The aggregate readiness state of this pod for accepting traffic.",
                "Status -- The aggregate status of the containers in this pod.",
                "Restarts -- The number of times the containers in this pod have been restarted and when the "
                "last container in this pod has restarted.",
                "Age",
                "+IP=status.podIP",
                "+Node=spec.nodeName",
                "+Nominated Node=status.nominatedNodeName",
                "+Readiness Gates=spec.readinessGates",
            ),
            cells=tables.pod,
            row_conditions=tables.pod_conditions,
            fields=pod_fields(),
            indexes=("spec.nodeName",),
            subresources=(
                connect("attach", V1.kind("PodAttachOptions"), ("create", "get")),
                Subresource(
                    name="binding",
                    kind=V1.kind("Binding"),
                    verbs=CREATE_ONLY,
                    schema=V1.schema("Binding"),
                    handler=bind,
                ),
                V1.part("ephemeralcontainers", "Pod", EphemeralContainersStrategy()),
                EVICTION,
                connect("exec", V1.kind("PodExecOptions"), ("create", "get")),
                connect("log", V1.kind("Pod"), ("get",)),
                connect("portforward", V1.kind("PodPortForwardOptions"), ("create", "get")),
                connect("proxy", V1.kind("PodProxyOptions"), PROXY_VERBS),
                V1.part("resize", "Pod", ResizeStrategy()),
                V1.status("Pod"),
            ),
        ),
        V1.resource(
            "podtemplates",
            "PodTemplate",
            storage_prefix="podtemplates",
            storage_version_hash="LIXB2x4IFpk=",
            strategy=PodTemplateStrategy(),
            columns=columns(
                "Containers -- Names of each container in the template.",
                "Images -- Images referenced by each container in the template.",
                "Pod Labels -- The labels for the pod template.",
            ),
            cells=tables.pod_template,
        ),
        V1.resource(
            "replicationcontrollers",
            "ReplicationController",
            short_names=("rc",),
            categories=("all",),
            storage_prefix="controllers",
            storage_version_hash="Jond2If31h0=",
            strategy=ReplicationControllerStrategy(),
            columns=columns(
                "Desired:integer=spec.replicas",
                "Current:integer=status.replicas",
                "Ready:integer=status.readyReplicas",
                "Age",
                "+Containers -- Names of each container in the template.",
                "+Images -- Images referenced by each container in the template.",
                "+Selector=spec.selector",
            ),
            cells=tables.replication_controller,
            fields=fields("status.replicas"),
            subresources=(
                scale(V1, "replicationcontrollers"),
                V1.status("ReplicationController"),
            ),
        ),
        V1.resource(
            "resourcequotas",
            "ResourceQuota",
            short_names=("quota",),
            storage_prefix="resourcequotas",
            storage_version_hash="8uhSgffRX6w=",
            strategy=ResourceQuotaStrategy(),
            columns=columns(
                "Request -- Request represents a minimum amount of cpu/memory that a container may consume.",
                "Limit -- Limits control the maximum amount of cpu/memory that a container may use "
                "independent of contention on the node.",
                "Age",
            ),
            cells=tables.resource_quota,
            subresources=(V1.status("ResourceQuota"),),
        ),
        V1.resource(
            "secrets",
            "Secret",
            storage_prefix="secrets",
            storage_version_hash="S6u1pOWzb84=",
            strategy=SecretStrategy(),
            columns=columns("Type=type", "Data=data", "Age"),
            cells=tables.secret,
            fields=fields("type"),
        ),
        V1.resource(
            "serviceaccounts",
            "ServiceAccount",
            short_names=("sa",),
            storage_prefix="serviceaccounts",
            storage_version_hash="pbx9ZvyFpBE=",
            strategy=ServiceAccountStrategy(),
            columns=columns("Age"),
            cells=tables.service_account,
            subresources=(TOKEN,),
        ),
        V1.resource(
            "services",
            "Service",
            short_names=("svc",),
            categories=("all",),
            storage_prefix="services/specs",
            storage_version_hash="0/CO1lhkEBI=",
            strategy=ServiceStrategy(ServiceAddresses()),
            columns=columns(
                "Type=spec.type",
                "Cluster-IP=spec.clusterIP",
                "External-IP=spec.externalIPs",
                "Port(s)=spec.ports",
                "Age",
                "+Selector=spec.selector",
            ),
            cells=tables.service,
            fields=fields("spec.clusterIP", "spec.type"),
            subresources=(
                connect("proxy", V1.kind("ServiceProxyOptions"), PROXY_VERBS),
                V1.status("Service"),
            ),
        ),
    )


class CoreApi(Plugin):
    """The core group: pods and what they run on, are given, and are reached by."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve v1."""
        return [
            ApiGroupVersion(group="", version="v1", resources=_v1(), group_priority=18_000, version_priority=1),
        ]
