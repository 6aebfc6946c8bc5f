"""Job and HorizontalPodAutoscaler of extensions/v1beta1, where they differ from those of today."""

# ruff: noqa: N815 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube_api.autoscaling import v1 as autoscaling
from hyperkube_api.batch import v1 as batch

from hyperkube.machinery.schema import KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="extensions",
    version="v1beta1",
    proto="k8s.io.api.extensions.v1beta1",
    openapi="io.k8s.api.extensions.v1beta1",
)


class JobSpec(batch.JobSpec):
    """What a Job should do."""

    autoSelector = f.Bool(5, ptr=True, omitempty=True, doc="Whether the selector is made by the server.")


del JobSpec._declared_fields["manualSelector"]  # noqa: SLF001  autoSelector took its place, and its number


class Job(batch.Job):
    """As today, but the selector is made by the server only where it is told to."""

    spec = f.Struct("JobSpec", 2, omitempty=True, doc="What is wished for.")


class SubresourceReference(KubeSchema):
    """What is scaled: part of HorizontalPodAutoscalerSpec.scaleRef."""

    kind = f.String(1, omitempty=True)
    name = f.String(2, omitempty=True)
    apiVersion = f.String(3, omitempty=True)
    subresource = f.String(4, omitempty=True, doc="It is always scale.")


class CPUTargetUtilization(KubeSchema):
    """The CPU that pods should use on average: part of HorizontalPodAutoscalerSpec.cpuUtilization."""

    targetPercentage = f.Int32(1, doc="Of what they request.")


class HorizontalPodAutoscalerSpec(KubeSchema):
    """What a HorizontalPodAutoscaler should be."""

    scaleRef = f.Struct("SubresourceReference", 1, required=True)
    minReplicas = f.Int32(2, ptr=True, omitempty=True)
    maxReplicas = f.Int32(3, required=True)
    cpuUtilization = f.Struct("CPUTargetUtilization", 4, ptr=True, omitempty=True)


class HorizontalPodAutoscaler(autoscaling.HorizontalPodAutoscaler):
    """As in autoscaling/v1, but for the names of its target and its percentage."""

    spec = f.Struct("HorizontalPodAutoscalerSpec", 2, omitempty=True, doc="What is wished for.")
