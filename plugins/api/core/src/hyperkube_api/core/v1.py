"""The types of core/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults.

Those of pods and volumes, most of all, stand in `v1_pods` and are made with the first pod: a cluster rests without.
"""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from typing import Any

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package, resolve
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="",
    version="v1",
    proto="k8s.io.api.core.v1",
    openapi="io.k8s.api.core.v1",
)


def __getattr__(name: str) -> Any:
    """Return a type that stands in `v1_pods`."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return resolve(f"hyperkube_api.core.v1_pods:{name}")
    except LookupError as error:
        raise AttributeError(str(error)) from error


class AttachedVolume(KubeSchema):
    """Attached volume: part of NodeStatus.volumesAttached."""

    name = f.String(1, required=True, typedef="v1.UniqueVolumeName")
    devicePath = f.String(2, required=True)


class Binding(KubeObject):
    """Puts a pod on a node."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    target = f.Struct("ObjectReference", 2, required=True)


class ClientIPConfig(KubeSchema):
    """Client IP config: part of SessionAffinityConfig.clientIP."""

    timeoutSeconds = f.Int32(1, ptr=True, omitempty=True)


class ComponentCondition(KubeSchema):
    """Component condition: part of ComponentStatus.conditions."""

    type = f.String(1, required=True, typedef="v1.ComponentConditionType")
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    message = f.String(3, omitempty=True, doc="Why, for people.")
    error = f.String(4, omitempty=True)


class ComponentStatus(KubeObject):
    """Health of a part of the control plane; deprecated."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    conditions = f.List(
        "ComponentCondition",
        2,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )


class ComponentStatusList(KubeObject):
    """A list of ComponentStatus objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ComponentStatus", 2, required=True, nullable=True, doc="The objects.")


class ConfigMap(KubeObject):
    """Configuration that is not secret, for pods to read as files or environment variables."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    immutable = f.Bool(4, ptr=True, omitempty=True, doc="Whether the data can no longer be changed.")
    data = f.Map(f.String(), 2, omitempty=True, doc="The entries as text.")
    binaryData = f.Map(f.Bytes(), 3, omitempty=True, format="byte", doc="The entries as bytes.")


class ConfigMapList(KubeObject):
    """A list of ConfigMap objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ConfigMap", 2, required=True, nullable=True, doc="The objects.")


class ConfigMapNodeConfigSource(KubeSchema):
    """Config map node config source: part of NodeConfigSource.configMap."""

    namespace = f.String(1, required=True)
    name = f.String(2, required=True)
    uid = f.String(3, omitempty=True, typedef="types.UID")
    resourceVersion = f.String(4, omitempty=True)
    kubeletConfigKey = f.String(5, required=True)


class ContainerImage(KubeSchema):
    """Container image: part of NodeStatus.images."""

    names = f.List(f.String(), 1, nullable=True, list_type="atomic")
    sizeBytes = f.Int64(2, omitempty=True)


class DaemonEndpoint(KubeSchema):
    """Daemon endpoint: part of NodeDaemonEndpoints.kubeletEndpoint."""

    Port = f.Int32(1, required=True)


class EndpointAddress(KubeSchema, struct_type="atomic"):
    """Endpoint address: part of EndpointSubset.addresses, EndpointSubset.notReadyAddresses."""

    ip = f.String(1, required=True)
    hostname = f.String(3, omitempty=True)
    nodeName = f.String(4, ptr=True, omitempty=True)
    targetRef = f.Struct("ObjectReference", 2, ptr=True, omitempty=True)


class EndpointPort(KubeSchema, struct_type="atomic"):
    """Endpoint port: part of EndpointSubset.ports."""

    name = f.String(1, omitempty=True)
    port = f.Int32(2, required=True)
    protocol = f.String(3, omitempty=True, enum=("SCTP", "TCP", "UDP"), typedef="v1.Protocol")
    appProtocol = f.String(4, ptr=True, omitempty=True)


class EndpointSubset(KubeSchema):
    """Endpoint subset: part of Endpoints.subsets."""

    addresses = f.List("EndpointAddress", 1, omitempty=True, list_type="atomic")
    notReadyAddresses = f.List("EndpointAddress", 2, omitempty=True, list_type="atomic")
    ports = f.List("EndpointPort", 3, omitempty=True, list_type="atomic")


class Endpoints(KubeObject):
    """The addresses behind a Service, in one object; EndpointSlice is its successor."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    subsets = f.List("EndpointSubset", 2, omitempty=True, list_type="atomic")


class EndpointsList(KubeObject):
    """A list of Endpoints objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Endpoints", 2, required=True, nullable=True, doc="The objects.")


class Event(KubeObject):
    """A note of something that happened to an object."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, required=True, doc="Standard metadata of the object.")
    involvedObject = f.Struct("ObjectReference", 2, required=True)
    reason = f.String(3, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(4, omitempty=True, doc="Why, for people.")
    source = f.Struct("EventSource", 5, omitempty=True)
    firstTimestamp = f.Time(6, omitempty=True)
    lastTimestamp = f.Time(7, omitempty=True)
    count = f.Int32(8, omitempty=True)
    type = f.String(9, omitempty=True)
    eventTime = f.MicroTime(10, omitempty=True)
    series = f.Struct("EventSeries", 11, ptr=True, omitempty=True)
    action = f.String(12, omitempty=True)
    related = f.Struct("ObjectReference", 13, ptr=True, omitempty=True)
    reportingComponent = f.String(14)
    reportingInstance = f.String(15)


class EventList(KubeObject):
    """A list of Event objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Event", 2, required=True, nullable=True, doc="The objects.")


class EventSeries(KubeSchema):
    """Event series: part of Event.series."""

    count = f.Int32(1, omitempty=True)
    lastObservedTime = f.MicroTime(2, omitempty=True)


class EventSource(KubeSchema):
    """Event source: part of Event.source."""

    component = f.String(1, omitempty=True)
    host = f.String(2, omitempty=True)


class LoadBalancerIngress(KubeSchema):
    """Load balancer ingress: part of LoadBalancerStatus.ingress."""

    ip = f.String(1, omitempty=True)
    hostname = f.String(2, omitempty=True)
    ipMode = f.String(3, ptr=True, omitempty=True, typedef="v1.LoadBalancerIPMode")
    ports = f.List("PortStatus", 4, omitempty=True, list_type="atomic")


class LoadBalancerStatus(KubeSchema):
    """Load balancer status: part of ServiceStatus.loadBalancer."""

    ingress = f.List("LoadBalancerIngress", 1, omitempty=True, list_type="atomic")


class LocalObjectReference(KubeSchema, struct_type="atomic"):
    """An object of the same namespace, by name."""

    name = f.String(1, omitempty=True, default="")


class Namespace(KubeObject):
    """A space of names in which objects live, with its own quota and rights."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("NamespaceSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("NamespaceStatus", 3, omitempty=True, doc="What is observed.")


class NamespaceCondition(KubeSchema):
    """Namespace condition: part of NamespaceStatus.conditions."""

    type = f.String(1, required=True, typedef="v1.NamespaceConditionType")
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastTransitionTime = f.Time(4, omitempty=True, doc="When the condition last changed.")
    reason = f.String(5, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(6, omitempty=True, doc="Why, for people.")


class NamespaceList(KubeObject):
    """A list of Namespace objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Namespace", 2, required=True, nullable=True, doc="The objects.")


class NamespaceSpec(KubeSchema):
    """What a Namespace should be."""

    finalizers = f.List(f.String(typedef="v1.FinalizerName"), 1, omitempty=True, list_type="atomic")


class NamespaceStatus(KubeSchema):
    """What is observed of a Namespace."""

    phase = f.String(1, omitempty=True, enum=("Active", "Terminating"), typedef="v1.NamespacePhase")
    conditions = f.List(
        "NamespaceCondition",
        2,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )


class Node(KubeObject):
    """A machine that runs pods."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("NodeSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("NodeStatus", 3, omitempty=True, doc="What is observed.")


class NodeAddress(KubeSchema):
    """Node address: part of NodeStatus.addresses."""

    type = f.String(1, required=True, typedef="v1.NodeAddressType")
    address = f.String(2, required=True)


class NodeCondition(KubeSchema):
    """Node condition: part of NodeStatus.conditions."""

    type = f.String(1, required=True, typedef="v1.NodeConditionType")
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastHeartbeatTime = f.Time(3, omitempty=True)
    lastTransitionTime = f.Time(4, omitempty=True, doc="When the condition last changed.")
    reason = f.String(5, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(6, omitempty=True, doc="Why, for people.")


class NodeConfigSource(KubeSchema):
    """Node config source: part of NodeConfigStatus.assigned, NodeConfigStatus.active, NodeConfigStatus.lastKnownGood and others."""

    configMap = f.Struct(
        "ConfigMapNodeConfigSource",
        2,
        ptr=True,
        omitempty=True,
        dv=("k8s:deprecated=kind", "k8s:deprecated=apiVersion", "k8s:deprecated=configMapRef,protobuf=1"),
    )


class NodeConfigStatus(KubeSchema):
    """Node config status: part of NodeStatus.config."""

    assigned = f.Struct("NodeConfigSource", 1, ptr=True, omitempty=True)
    active = f.Struct("NodeConfigSource", 2, ptr=True, omitempty=True)
    lastKnownGood = f.Struct("NodeConfigSource", 3, ptr=True, omitempty=True)
    error = f.String(4, omitempty=True)


class NodeDaemonEndpoints(KubeSchema):
    """Node daemon endpoints: part of NodeStatus.daemonEndpoints."""

    kubeletEndpoint = f.Struct("DaemonEndpoint", 1, omitempty=True)


class NodeFeatures(KubeSchema):
    """Node features: part of NodeStatus.features."""

    supplementalGroupsPolicy = f.Bool(1, ptr=True, omitempty=True)


class NodeList(KubeObject):
    """A list of Node objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Node", 2, required=True, nullable=True, doc="The objects.")


class NodeProxyOptions(KubeObject, published=False):
    """Node proxy options."""

    path = f.String(1, omitempty=True)


class NodeRuntimeHandler(KubeSchema):
    """Node runtime handler: part of NodeStatus.runtimeHandlers."""

    name = f.String(1)
    features = f.Struct("NodeRuntimeHandlerFeatures", 2, ptr=True, omitempty=True)


class NodeRuntimeHandlerFeatures(KubeSchema):
    """Node runtime handler features: part of NodeRuntimeHandler.features."""

    recursiveReadOnlyMounts = f.Bool(1, ptr=True, omitempty=True)
    userNamespaces = f.Bool(2, ptr=True, omitempty=True)


class NodeSpec(KubeSchema):
    """What a Node should be."""

    podCIDR = f.String(1, omitempty=True)
    podCIDRs = f.List(f.String(), 7, omitempty=True, list_type="set", patch_strategy="merge")
    providerID = f.String(3, omitempty=True)
    unschedulable = f.Bool(4, omitempty=True)
    taints = f.List("Taint", 5, omitempty=True, list_type="atomic")
    configSource = f.Struct("NodeConfigSource", 6, ptr=True, omitempty=True)
    externalID = f.String(2, omitempty=True)


class NodeStatus(KubeSchema):
    """What is observed of a Node."""

    capacity = f.Map(f.Quantity(), 1, omitempty=True, typedef="v1.ResourceList")
    allocatable = f.Map(f.Quantity(), 2, omitempty=True, typedef="v1.ResourceList")
    phase = f.String(3, omitempty=True, enum=("Pending", "Running", "Terminated"), typedef="v1.NodePhase")
    conditions = f.List(
        "NodeCondition",
        4,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )
    addresses = f.List(
        "NodeAddress",
        5,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
    )
    daemonEndpoints = f.Struct("NodeDaemonEndpoints", 6, omitempty=True)
    nodeInfo = f.Struct("NodeSystemInfo", 7, omitempty=True)
    images = f.List("ContainerImage", 8, omitempty=True, list_type="atomic")
    volumesInUse = f.List(f.String(typedef="v1.UniqueVolumeName"), 9, omitempty=True, list_type="atomic")
    volumesAttached = f.List("AttachedVolume", 10, omitempty=True, list_type="atomic")
    config = f.Struct("NodeConfigStatus", 11, ptr=True, omitempty=True)
    runtimeHandlers = f.List("NodeRuntimeHandler", 12, omitempty=True, list_type="atomic")
    features = f.Struct("NodeFeatures", 13, ptr=True, omitempty=True, gate="SupplementalGroupsPolicy")
    declaredFeatures = f.List(f.String(), 14, omitempty=True, list_type="atomic", gate="NodeDeclaredFeatures")


class NodeSwapStatus(KubeSchema):
    """Node swap status: part of NodeSystemInfo.swap."""

    capacity = f.Int64(1, ptr=True, omitempty=True)


class NodeSystemInfo(KubeSchema):
    """Node system info: part of NodeStatus.nodeInfo."""

    machineID = f.String(1, required=True)
    systemUUID = f.String(2, required=True)
    bootID = f.String(3, required=True)
    kernelVersion = f.String(4, required=True)
    osImage = f.String(5, required=True)
    containerRuntimeVersion = f.String(6, required=True)
    kubeletVersion = f.String(7, required=True)
    kubeProxyVersion = f.String(8, required=True)
    operatingSystem = f.String(9, required=True)
    architecture = f.String(10, required=True)
    swap = f.Struct("NodeSwapStatus", 11, ptr=True, omitempty=True)


class ObjectReference(KubeSchema, struct_type="atomic"):
    """Another object, by kind and name."""

    kind = f.String(1, omitempty=True)
    namespace = f.String(2, omitempty=True)
    name = f.String(3, omitempty=True)
    uid = f.String(4, omitempty=True, typedef="types.UID")
    apiVersion = f.String(5, omitempty=True)
    resourceVersion = f.String(6, omitempty=True)
    fieldPath = f.String(7, omitempty=True)


class PodAttachOptions(KubeObject, published=False):
    """Pod attach options."""

    stdin = f.Bool(1, omitempty=True)
    stdout = f.Bool(2, omitempty=True)
    stderr = f.Bool(3, omitempty=True)
    tty = f.Bool(4, omitempty=True)
    container = f.String(5, omitempty=True)


class PodExecOptions(KubeObject, published=False):
    """Pod exec options."""

    stdin = f.Bool(1, omitempty=True)
    stdout = f.Bool(2, omitempty=True)
    stderr = f.Bool(3, omitempty=True)
    tty = f.Bool(4, omitempty=True)
    container = f.String(5, omitempty=True)
    command = f.List(f.String(), 6, required=True, nullable=True, list_type="atomic")


class PodLogOptions(KubeObject, published=False):
    """Pod log options."""

    container = f.String(1, omitempty=True)
    follow = f.Bool(2, omitempty=True)
    previous = f.Bool(3, omitempty=True)
    sinceSeconds = f.Int64(4, ptr=True, omitempty=True)
    sinceTime = f.Time(5, ptr=True, omitempty=True)
    timestamps = f.Bool(6, omitempty=True)
    tailLines = f.Int64(7, ptr=True, omitempty=True)
    limitBytes = f.Int64(8, ptr=True, omitempty=True)
    insecureSkipTLSVerifyBackend = f.Bool(9, omitempty=True)
    stream = f.String(10, ptr=True, omitempty=True, gate="PodLogsQuerySplitStreams")


class PodPortForwardOptions(KubeObject, published=False):
    """Pod port forward options."""

    ports = f.List(f.Int32(), 1, omitempty=True, list_type="atomic")


class PodProxyOptions(KubeObject, published=False):
    """Pod proxy options."""

    path = f.String(1, omitempty=True)


class PortStatus(KubeSchema):
    """Port status: part of LoadBalancerIngress.ports."""

    port = f.Int32(1, required=True)
    protocol = f.String(2, required=True, enum=("SCTP", "TCP", "UDP"), typedef="v1.Protocol")
    error = f.String(3, ptr=True, omitempty=True)


class Secret(KubeObject):
    """Confidential data, for pods to read as files or environment variables."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    immutable = f.Bool(5, ptr=True, omitempty=True, doc="Whether the data can no longer be changed.")
    data = f.Map(f.Bytes(), 2, omitempty=True, format="byte", doc="The entries, as base64.")
    stringData = f.Map(f.String(), 4, omitempty=True, doc="Entries to write, as plain text; never read back.")
    type = f.String(
        3,
        omitempty=True,
        typedef="v1.SecretType",
        doc="What the secret is for, which decides the entries it must have.",
    )


class SecretList(KubeObject):
    """A list of Secret objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Secret", 2, required=True, nullable=True, doc="The objects.")


class SerializedReference(KubeObject, published=False):
    """Serialized reference."""

    reference = f.Struct("ObjectReference", 1, omitempty=True)


class Service(KubeObject):
    """A stable name and address for a changing set of pods."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("ServiceSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("ServiceStatus", 3, omitempty=True, doc="What is observed.")


class ServiceAccount(KubeObject):
    """An identity for what runs in pods."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    secrets = f.List(
        "ObjectReference",
        2,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
    )
    imagePullSecrets = f.List("LocalObjectReference", 3, omitempty=True, list_type="atomic")
    automountServiceAccountToken = f.Bool(4, ptr=True, omitempty=True)


class ServiceAccountList(KubeObject):
    """A list of ServiceAccount objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ServiceAccount", 2, required=True, nullable=True, doc="The objects.")


class ServiceList(KubeObject):
    """A list of Service objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Service", 2, required=True, nullable=True, doc="The objects.")


class ServicePort(KubeSchema):
    """A port of a Service and where it leads."""

    name = f.String(1, omitempty=True, doc="A name, needed when there are several ports.")
    protocol = f.String(
        2, omitempty=True, default="TCP", enum=("SCTP", "TCP", "UDP"), typedef="v1.Protocol", doc="UDP, TCP or SCTP."
    )
    appProtocol = f.String(6, ptr=True, omitempty=True, doc="The protocol above that.")
    port = f.Int32(3, required=True, doc="The port of the Service.")
    targetPort = f.IntOrString(4, omitempty=True, doc="The port of the pods, by number or name.")
    nodePort = f.Int32(5, omitempty=True, doc="The port on every node, for types NodePort and LoadBalancer.")


class ServiceProxyOptions(KubeObject, published=False):
    """Service proxy options."""

    path = f.String(1, omitempty=True)


class ServiceSpec(KubeSchema):
    """What a Service should be."""

    ports = f.List(
        "ServicePort",
        1,
        omitempty=True,
        list_type="map",
        list_map_keys=("port", "protocol"),
        patch_strategy="merge",
        patch_merge_key="port",
        doc="The ports of the Service.",
    )
    selector = f.Map(f.String(), 2, omitempty=True, map_type="atomic", doc="The labels of the pods behind it.")
    clusterIP = f.String(3, omitempty=True, doc="The address in the cluster; None for a headless Service.")
    clusterIPs = f.List(
        f.String(), 18, omitempty=True, list_type="atomic", doc="The addresses in the cluster, one of each family."
    )
    type = f.String(
        4,
        omitempty=True,
        enum=("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"),
        typedef="v1.ServiceType",
        doc="How the Service can be reached.",
    )
    externalIPs = f.List(f.String(), 5, omitempty=True, list_type="atomic", doc="Further addresses that lead to it.")
    sessionAffinity = f.String(
        7,
        omitempty=True,
        enum=("ClientIP", "None"),
        typedef="v1.ServiceAffinity",
        doc="Whether a client stays with one pod.",
    )
    loadBalancerIP = f.String(8, omitempty=True, doc="A wish for the load balancer's address.")
    loadBalancerSourceRanges = f.List(f.String(), 9, omitempty=True, list_type="atomic")
    externalName = f.String(10, omitempty=True, doc="The name that DNS answers with, for type ExternalName.")
    externalTrafficPolicy = f.String(
        11,
        omitempty=True,
        enum=("Cluster", "Local"),
        doc="Whether traffic from outside stays on the node it reached.",
        typedef="v1.ServiceExternalTrafficPolicy",
    )
    healthCheckNodePort = f.Int32(12, omitempty=True)
    publishNotReadyAddresses = f.Bool(13, omitempty=True, doc="Whether pods that are not ready count.")
    sessionAffinityConfig = f.Struct("SessionAffinityConfig", 14, ptr=True, omitempty=True)
    ipFamilies = f.List(
        f.String(typedef="v1.IPFamily"),
        19,
        omitempty=True,
        enum=("", "IPv4", "IPv6"),
        list_type="atomic",
        doc="The address families.",
    )
    ipFamilyPolicy = f.String(
        17,
        ptr=True,
        omitempty=True,
        enum=("PreferDualStack", "RequireDualStack", "SingleStack"),
        typedef="v1.IPFamilyPolicy",
        doc="How many address families.",
    )
    allocateLoadBalancerNodePorts = f.Bool(20, ptr=True, omitempty=True)
    loadBalancerClass = f.String(21, ptr=True, omitempty=True)
    internalTrafficPolicy = f.String(
        22,
        ptr=True,
        omitempty=True,
        enum=("Cluster", "Local"),
        doc="Whether traffic from inside stays on its node.",
        typedef="v1.ServiceInternalTrafficPolicy",
    )
    trafficDistribution = f.String(23, ptr=True, omitempty=True)


class ServiceStatus(KubeSchema):
    """What is observed of a Service."""

    loadBalancer = f.Struct("LoadBalancerStatus", 1, omitempty=True)
    conditions = f.List(
        "hyperkube_api.meta.v1:Condition",
        2,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )


class SessionAffinityConfig(KubeSchema):
    """Session affinity config: part of ServiceSpec.sessionAffinityConfig."""

    clientIP = f.Struct("ClientIPConfig", 1, ptr=True, omitempty=True)


class Taint(KubeSchema):
    """Keeps pods away from a node that do not tolerate it."""

    key = f.String(1, required=True)
    value = f.String(2, omitempty=True)
    effect = f.String(3, required=True, enum=("NoExecute", "NoSchedule", "PreferNoSchedule"), typedef="v1.TaintEffect")
    timeAdded = f.Time(4, ptr=True, omitempty=True)


class TopologySelectorLabelRequirement(KubeSchema):
    """Topology selector label requirement: part of TopologySelectorTerm.matchLabelExpressions."""

    key = f.String(1, required=True)
    values = f.List(f.String(), 2, required=True, nullable=True, list_type="atomic")


class TopologySelectorTerm(KubeSchema, struct_type="atomic"):
    """Topology selector term: part of StorageClass.allowedTopologies."""

    matchLabelExpressions = f.List("TopologySelectorLabelRequirement", 1, omitempty=True, list_type="atomic")
