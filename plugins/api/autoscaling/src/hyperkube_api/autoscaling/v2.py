"""The types of autoscaling/v2, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="autoscaling",
    version="v2",
    proto="k8s.io.api.autoscaling.v2",
    openapi="io.k8s.api.autoscaling.v2",
)


class ContainerResourceMetricSource(KubeSchema):
    """Container resource metric source: part of MetricSpec.containerResource."""

    name = f.String(1, required=True, typedef="v1.ResourceName")
    target = f.Struct("MetricTarget", 2, required=True)
    container = f.String(3, required=True)


class ContainerResourceMetricStatus(KubeSchema):
    """Container resource metric status: part of MetricStatus.containerResource."""

    name = f.String(1, required=True, typedef="v1.ResourceName")
    current = f.Struct("MetricValueStatus", 2, required=True)
    container = f.String(3, required=True)


class CrossVersionObjectReference(KubeSchema):
    """Cross version object reference: part of HorizontalPodAutoscalerSpec.scaleTargetRef, ObjectMetricSource.describedObject, ObjectMetricStatus.describedObject."""

    kind = f.String(1, required=True)
    name = f.String(2, required=True)
    apiVersion = f.String(3, omitempty=True)


class ExternalMetricSource(KubeSchema):
    """External metric source: part of MetricSpec.external."""

    metric = f.Struct("MetricIdentifier", 1, required=True)
    target = f.Struct("MetricTarget", 2, required=True)


class ExternalMetricStatus(KubeSchema):
    """External metric status: part of MetricStatus.external."""

    metric = f.Struct("MetricIdentifier", 1, required=True)
    current = f.Struct("MetricValueStatus", 2, required=True)


class HPAScalingPolicy(KubeSchema):
    """HPA scaling policy: part of HPAScalingRules.policies."""

    type = f.String(1, required=True, typedef="v2.HPAScalingPolicyType")
    value = f.Int32(2, required=True)
    periodSeconds = f.Int32(3, required=True)


class HPAScalingRules(KubeSchema):
    """HPA scaling rules: part of HorizontalPodAutoscalerBehavior.scaleUp, HorizontalPodAutoscalerBehavior.scaleDown."""

    stabilizationWindowSeconds = f.Int32(3, ptr=True, omitempty=True)
    selectPolicy = f.String(1, ptr=True, omitempty=True, typedef="v2.ScalingPolicySelect")
    policies = f.List("HPAScalingPolicy", 2, ptr=True, omitempty=True, list_type="atomic")
    tolerance = f.Quantity(4, ptr=True, omitempty=True, gate="HPAConfigurableTolerance")


class HorizontalPodAutoscaler(KubeObject):
    """Changes the number of replicas of a workload to keep metrics near their targets."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("HorizontalPodAutoscalerSpec", 2, required=True, omitempty=True, doc="What is wished for.")
    status = f.Struct("HorizontalPodAutoscalerStatus", 3, omitempty=True, doc="What is observed.")


class HorizontalPodAutoscalerBehavior(KubeSchema):
    """Horizontal pod autoscaler behavior: part of HorizontalPodAutoscalerSpec.behavior."""

    scaleUp = f.Struct("HPAScalingRules", 1, ptr=True, omitempty=True)
    scaleDown = f.Struct("HPAScalingRules", 2, ptr=True, omitempty=True)


class HorizontalPodAutoscalerCondition(KubeSchema):
    """Horizontal pod autoscaler condition: part of HorizontalPodAutoscalerStatus.conditions."""

    type = f.String(1, required=True, typedef="v2.HorizontalPodAutoscalerConditionType")
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastTransitionTime = f.Time(3, omitempty=True, doc="When the condition last changed.")
    reason = f.String(4, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(5, omitempty=True, doc="Why, for people.")


class HorizontalPodAutoscalerList(KubeObject):
    """A list of HorizontalPodAutoscaler objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("HorizontalPodAutoscaler", 2, required=True, nullable=True, doc="The objects.")


class HorizontalPodAutoscalerSpec(KubeSchema):
    """What a HorizontalPodAutoscaler should be."""

    scaleTargetRef = f.Struct("CrossVersionObjectReference", 1, required=True)
    minReplicas = f.Int32(
        2,
        ptr=True,
        omitempty=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:ifEnabled(HPAScaleToZero)=+k8s:minimum=0',
            'k8s:alpha(since: "1.36")=+k8s:ifDisabled(HPAScaleToZero)=+k8s:minimum=1',
        ),
    )
    maxReplicas = f.Int32(
        3, required=True, dv=('k8s:alpha(since: "1.36")=+k8s:required', 'k8s:alpha(since: "1.36")=+k8s:minimum=1')
    )
    metrics = f.List("MetricSpec", 4, omitempty=True, list_type="atomic")
    behavior = f.Struct("HorizontalPodAutoscalerBehavior", 5, ptr=True, omitempty=True)


class HorizontalPodAutoscalerStatus(KubeSchema):
    """What is observed of a HorizontalPodAutoscaler."""

    observedGeneration = f.Int64(1, ptr=True, omitempty=True, doc="The generation that the status speaks of.")
    lastScaleTime = f.Time(2, ptr=True, omitempty=True)
    currentReplicas = f.Int32(3, omitempty=True)
    desiredReplicas = f.Int32(4, required=True)
    currentMetrics = f.List("MetricStatus", 5, nullable=True, list_type="atomic")
    conditions = f.List(
        "HorizontalPodAutoscalerCondition",
        6,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )


class MetricIdentifier(KubeSchema):
    """Metric identifier: part of ExternalMetricSource.metric, ExternalMetricStatus.metric, ObjectMetricSource.metric and others."""

    name = f.String(1, required=True)
    selector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 2, ptr=True, omitempty=True)


class MetricSpec(KubeSchema):
    """Metric spec: part of HorizontalPodAutoscalerSpec.metrics."""

    type = f.String(1, required=True, typedef="v2.MetricSourceType")
    object = f.Struct("ObjectMetricSource", 2, ptr=True, omitempty=True)
    pods = f.Struct("PodsMetricSource", 3, ptr=True, omitempty=True)
    resource = f.Struct("ResourceMetricSource", 4, ptr=True, omitempty=True)
    containerResource = f.Struct("ContainerResourceMetricSource", 7, ptr=True, omitempty=True)
    external = f.Struct("ExternalMetricSource", 5, ptr=True, omitempty=True)


class MetricStatus(KubeSchema):
    """Metric status: part of HorizontalPodAutoscalerStatus.currentMetrics."""

    type = f.String(1, required=True, typedef="v2.MetricSourceType")
    object = f.Struct("ObjectMetricStatus", 2, ptr=True, omitempty=True)
    pods = f.Struct("PodsMetricStatus", 3, ptr=True, omitempty=True)
    resource = f.Struct("ResourceMetricStatus", 4, ptr=True, omitempty=True)
    containerResource = f.Struct("ContainerResourceMetricStatus", 7, ptr=True, omitempty=True)
    external = f.Struct("ExternalMetricStatus", 5, ptr=True, omitempty=True)


class MetricTarget(KubeSchema):
    """Metric target: part of ContainerResourceMetricSource.target, ExternalMetricSource.target, ObjectMetricSource.target and others."""

    type = f.String(1, required=True, typedef="v2.MetricTargetType")
    value = f.Quantity(2, ptr=True, omitempty=True)
    averageValue = f.Quantity(3, ptr=True, omitempty=True)
    averageUtilization = f.Int32(4, ptr=True, omitempty=True)


class MetricValueStatus(KubeSchema):
    """Metric value status: part of ContainerResourceMetricStatus.current, ExternalMetricStatus.current, ObjectMetricStatus.current and others."""

    value = f.Quantity(1, ptr=True, omitempty=True)
    averageValue = f.Quantity(2, ptr=True, omitempty=True)
    averageUtilization = f.Int32(3, ptr=True, omitempty=True)


class ObjectMetricSource(KubeSchema):
    """Object metric source: part of MetricSpec.object."""

    describedObject = f.Struct("CrossVersionObjectReference", 1, required=True)
    target = f.Struct("MetricTarget", 2, required=True)
    metric = f.Struct("MetricIdentifier", 3, required=True)


class ObjectMetricStatus(KubeSchema):
    """Object metric status: part of MetricStatus.object."""

    metric = f.Struct("MetricIdentifier", 1, required=True)
    current = f.Struct("MetricValueStatus", 2, required=True)
    describedObject = f.Struct("CrossVersionObjectReference", 3, required=True)


class PodsMetricSource(KubeSchema):
    """Pods metric source: part of MetricSpec.pods."""

    metric = f.Struct("MetricIdentifier", 1, required=True)
    target = f.Struct("MetricTarget", 2, required=True)


class PodsMetricStatus(KubeSchema):
    """Pods metric status: part of MetricStatus.pods."""

    metric = f.Struct("MetricIdentifier", 1, required=True)
    current = f.Struct("MetricValueStatus", 2, required=True)


class ResourceMetricSource(KubeSchema):
    """Resource metric source: part of MetricSpec.resource."""

    name = f.String(1, required=True, typedef="v1.ResourceName")
    target = f.Struct("MetricTarget", 2, required=True)


class ResourceMetricStatus(KubeSchema):
    """Resource metric status: part of MetricStatus.resource."""

    name = f.String(1, required=True, typedef="v1.ResourceName")
    current = f.Struct("MetricValueStatus", 2, required=True)
