"""The types of apps/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="apps",
    version="v1",
    proto="k8s.io.api.apps.v1",
    openapi="io.k8s.api.apps.v1",
)


class ControllerRevision(KubeObject):
    """A remembered state of a controller's template, for rolling back."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    data = f.RawExtension(2, omitempty=True)
    revision = f.Int64(3, required=True)


class ControllerRevisionList(KubeObject):
    """A list of ControllerRevision objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ControllerRevision", 2, required=True, nullable=True, doc="The objects.")


class DaemonSet(KubeObject):
    """Runs one pod on every node that fits."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("DaemonSetSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("DaemonSetStatus", 3, omitempty=True, doc="What is observed.")


class DaemonSetCondition(KubeSchema):
    """Daemon set condition: part of DaemonSetStatus.conditions."""

    type = f.String(1, required=True)
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastTransitionTime = f.Time(3, omitempty=True, doc="When the condition last changed.")
    reason = f.String(4, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(5, omitempty=True, doc="Why, for people.")


class DaemonSetList(KubeObject):
    """A list of DaemonSet objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("DaemonSet", 2, required=True, nullable=True, doc="The objects.")


class DaemonSetSpec(KubeSchema):
    """What a DaemonSet should be."""

    selector = f.Struct(
        "hyperkube_api.meta.v1:LabelSelector",
        1,
        required=True,
        ptr=True,
        nullable=True,
        doc="The labels by which its pods are known.",
    )
    template = f.Struct("hyperkube_api.core.v1:PodTemplateSpec", 2, required=True, doc="The pods to make.")
    updateStrategy = f.Struct(
        "DaemonSetUpdateStrategy", 3, omitempty=True, doc="How pods are replaced when the template changes."
    )
    minReadySeconds = f.Int32(4, omitempty=True)
    revisionHistoryLimit = f.Int32(6, ptr=True, omitempty=True)


class DaemonSetStatus(KubeSchema):
    """What is observed of a DaemonSet."""

    currentNumberScheduled = f.Int32(1, required=True)
    numberMisscheduled = f.Int32(2, required=True)
    desiredNumberScheduled = f.Int32(3, required=True)
    numberReady = f.Int32(4, required=True)
    observedGeneration = f.Int64(5, omitempty=True, doc="The generation that the status speaks of.")
    updatedNumberScheduled = f.Int32(6, omitempty=True)
    numberAvailable = f.Int32(7, omitempty=True)
    numberUnavailable = f.Int32(8, omitempty=True)
    collisionCount = f.Int32(9, ptr=True, omitempty=True)
    conditions = f.List(
        "DaemonSetCondition",
        10,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )


class DaemonSetUpdateStrategy(KubeSchema):
    """Daemon set update strategy: part of DaemonSetSpec.updateStrategy."""

    type = f.String(1, omitempty=True, enum=("OnDelete", "RollingUpdate"), typedef="v1.DaemonSetUpdateStrategyType")
    rollingUpdate = f.Struct("RollingUpdateDaemonSet", 2, ptr=True, omitempty=True)


class Deployment(KubeObject):
    """Keeps a number of equal pods running and rolls them over when their template changes."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("DeploymentSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("DeploymentStatus", 3, omitempty=True, doc="What is observed.")


class DeploymentCondition(KubeSchema):
    """Deployment condition: part of DeploymentStatus.conditions."""

    type = f.String(1, required=True, typedef="v1.DeploymentConditionType")
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastUpdateTime = f.Time(6, omitempty=True)
    lastTransitionTime = f.Time(7, omitempty=True, doc="When the condition last changed.")
    reason = f.String(4, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(5, omitempty=True, doc="Why, for people.")


class DeploymentList(KubeObject):
    """A list of Deployment objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Deployment", 2, required=True, nullable=True, doc="The objects.")


class DeploymentSpec(KubeSchema):
    """What a Deployment should be."""

    replicas = f.Int32(1, ptr=True, omitempty=True, doc="How many pods are wished for.")
    selector = f.Struct(
        "hyperkube_api.meta.v1:LabelSelector",
        2,
        required=True,
        ptr=True,
        nullable=True,
        doc="The labels by which its pods are known; cannot be changed.",
    )
    template = f.Struct("hyperkube_api.core.v1:PodTemplateSpec", 3, required=True, doc="The pods to make.")
    strategy = f.Struct(
        "DeploymentStrategy",
        4,
        omitempty=True,
        patch_strategy="retainKeys",
        doc="How old pods are replaced by new ones.",
    )
    minReadySeconds = f.Int32(5, omitempty=True, doc="The seconds a pod must be ready to count as available.")
    revisionHistoryLimit = f.Int32(6, ptr=True, omitempty=True, doc="How many old ReplicaSets are kept.")
    paused = f.Bool(7, omitempty=True, doc="Whether to leave everything as it is.")
    progressDeadlineSeconds = f.Int32(
        9, ptr=True, omitempty=True, doc="The seconds after which a rollout without progress has failed."
    )


class DeploymentStatus(KubeSchema):
    """What is observed of a Deployment."""

    observedGeneration = f.Int64(1, omitempty=True, doc="The generation that the status speaks of.")
    replicas = f.Int32(2, omitempty=True, doc="How many pods there are.")
    updatedReplicas = f.Int32(3, omitempty=True, doc="How many have the newest template.")
    readyReplicas = f.Int32(7, omitempty=True, doc="How many are ready.")
    availableReplicas = f.Int32(4, omitempty=True, doc="How many have been ready long enough.")
    unavailableReplicas = f.Int32(5, omitempty=True, doc="How many are still missing.")
    terminatingReplicas = f.Int32(9, ptr=True, omitempty=True)
    conditions = f.List(
        "DeploymentCondition",
        6,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )
    collisionCount = f.Int32(8, ptr=True, omitempty=True)


class DeploymentStrategy(KubeSchema):
    """How old pods are replaced by new ones."""

    type = f.String(
        1,
        omitempty=True,
        enum=("Recreate", "RollingUpdate"),
        typedef="v1.DeploymentStrategyType",
        doc="Recreate or RollingUpdate.",
    )
    rollingUpdate = f.Struct(
        "RollingUpdateDeployment", 2, ptr=True, omitempty=True, doc="Bounds for type RollingUpdate."
    )


class ReplicaSet(KubeObject):
    """Keeps a number of equal pods running; usually made by a Deployment."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("ReplicaSetSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("ReplicaSetStatus", 3, omitempty=True, doc="What is observed.")


class ReplicaSetCondition(KubeSchema):
    """Replica set condition: part of ReplicaSetStatus.conditions."""

    type = f.String(1, required=True, typedef="v1.ReplicaSetConditionType")
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastTransitionTime = f.Time(3, omitempty=True, doc="When the condition last changed.")
    reason = f.String(4, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(5, omitempty=True, doc="Why, for people.")


class ReplicaSetList(KubeObject):
    """A list of ReplicaSet objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ReplicaSet", 2, required=True, nullable=True, doc="The objects.")


class ReplicaSetSpec(KubeSchema):
    """What a ReplicaSet should be."""

    replicas = f.Int32(1, ptr=True, omitempty=True, doc="How many pods are wished for.")
    minReadySeconds = f.Int32(4, omitempty=True)
    selector = f.Struct(
        "hyperkube_api.meta.v1:LabelSelector",
        2,
        required=True,
        ptr=True,
        nullable=True,
        doc="The labels by which its pods are known.",
    )
    template = f.Struct("hyperkube_api.core.v1:PodTemplateSpec", 3, omitempty=True, doc="The pods to make.")


class ReplicaSetStatus(KubeSchema):
    """What is observed of a ReplicaSet."""

    replicas = f.Int32(1, required=True)
    fullyLabeledReplicas = f.Int32(2, omitempty=True)
    readyReplicas = f.Int32(4, omitempty=True)
    availableReplicas = f.Int32(5, omitempty=True)
    terminatingReplicas = f.Int32(7, ptr=True, omitempty=True)
    observedGeneration = f.Int64(3, omitempty=True, doc="The generation that the status speaks of.")
    conditions = f.List(
        "ReplicaSetCondition",
        6,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )


class RollingUpdateDaemonSet(KubeSchema):
    """Rolling update daemon set: part of DaemonSetUpdateStrategy.rollingUpdate."""

    maxUnavailable = f.IntOrString(1, ptr=True, omitempty=True)
    maxSurge = f.IntOrString(2, ptr=True, omitempty=True)


class RollingUpdateDeployment(KubeSchema):
    """How many pods may be missing or too many while a Deployment rolls over."""

    maxUnavailable = f.IntOrString(
        1, ptr=True, omitempty=True, doc="How many pods may be missing, as a number or a percentage."
    )
    maxSurge = f.IntOrString(
        2, ptr=True, omitempty=True, doc="How many pods may be too many, as a number or a percentage."
    )


class RollingUpdateStatefulSetStrategy(KubeSchema):
    """Rolling update stateful set strategy: part of StatefulSetUpdateStrategy.rollingUpdate."""

    partition = f.Int32(1, ptr=True, omitempty=True)
    maxUnavailable = f.IntOrString(2, ptr=True, omitempty=True, gate="MaxUnavailableStatefulSet")


class StatefulSet(KubeObject):
    """Runs pods that each keep a name, an order and a volume of their own."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("StatefulSetSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("StatefulSetStatus", 3, omitempty=True, doc="What is observed.")


class StatefulSetCondition(KubeSchema):
    """Stateful set condition: part of StatefulSetStatus.conditions."""

    type = f.String(1, required=True)
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastTransitionTime = f.Time(3, omitempty=True, doc="When the condition last changed.")
    reason = f.String(4, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(5, omitempty=True, doc="Why, for people.")


class StatefulSetList(KubeObject):
    """A list of StatefulSet objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("StatefulSet", 2, required=True, nullable=True, doc="The objects.")


class StatefulSetOrdinals(KubeSchema):
    """Stateful set ordinals: part of StatefulSetSpec.ordinals."""

    start = f.Int32(1)


class StatefulSetPersistentVolumeClaimRetentionPolicy(KubeSchema):
    """Stateful set persistent volume claim retention policy: part of StatefulSetSpec.persistentVolumeClaimRetentionPolicy."""

    whenDeleted = f.String(1, omitempty=True, typedef="v1.PersistentVolumeClaimRetentionPolicyType")
    whenScaled = f.String(2, omitempty=True, typedef="v1.PersistentVolumeClaimRetentionPolicyType")


class StatefulSetSpec(KubeSchema):
    """What a StatefulSet should be."""

    replicas = f.Int32(1, ptr=True, omitempty=True, doc="How many pods are wished for.")
    selector = f.Struct(
        "hyperkube_api.meta.v1:LabelSelector",
        2,
        required=True,
        ptr=True,
        nullable=True,
        doc="The labels by which its pods are known.",
    )
    template = f.Struct("hyperkube_api.core.v1:PodTemplateSpec", 3, required=True, doc="The pods to make.")
    volumeClaimTemplates = f.List(
        "hyperkube_api.core.v1:PersistentVolumeClaim",
        4,
        omitempty=True,
        list_type="atomic",
        doc="The claims each pod gets for itself.",
    )
    serviceName = f.String(5, doc="The headless Service that names the pods.")
    podManagementPolicy = f.String(
        6,
        omitempty=True,
        enum=("OrderedReady", "Parallel"),
        typedef="v1.PodManagementPolicyType",
        doc="Whether pods start in order or at once.",
    )
    updateStrategy = f.Struct(
        "StatefulSetUpdateStrategy", 7, omitempty=True, doc="How pods are replaced when the template changes."
    )
    revisionHistoryLimit = f.Int32(8, ptr=True, omitempty=True)
    minReadySeconds = f.Int32(9, omitempty=True)
    persistentVolumeClaimRetentionPolicy = f.Struct(
        "StatefulSetPersistentVolumeClaimRetentionPolicy", 10, ptr=True, omitempty=True
    )
    ordinals = f.Struct("StatefulSetOrdinals", 11, ptr=True, omitempty=True)


class StatefulSetStatus(KubeSchema):
    """What is observed of a StatefulSet."""

    observedGeneration = f.Int64(1, omitempty=True, doc="The generation that the status speaks of.")
    replicas = f.Int32(2, required=True)
    readyReplicas = f.Int32(3, omitempty=True)
    currentReplicas = f.Int32(4, omitempty=True)
    updatedReplicas = f.Int32(5, omitempty=True)
    currentRevision = f.String(6, omitempty=True)
    updateRevision = f.String(7, omitempty=True)
    collisionCount = f.Int32(9, ptr=True, omitempty=True)
    conditions = f.List(
        "StatefulSetCondition",
        10,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )
    availableReplicas = f.Int32(11)


class StatefulSetUpdateStrategy(KubeSchema):
    """Stateful set update strategy: part of StatefulSetSpec.updateStrategy."""

    type = f.String(1, omitempty=True, enum=("OnDelete", "RollingUpdate"), typedef="v1.StatefulSetUpdateStrategyType")
    rollingUpdate = f.Struct("RollingUpdateStatefulSetStrategy", 2, ptr=True, omitempty=True)
