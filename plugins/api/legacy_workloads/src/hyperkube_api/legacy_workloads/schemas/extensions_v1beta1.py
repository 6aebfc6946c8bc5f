"""The types of extensions/v1beta1, where they differ from those of today."""

# ruff: noqa: N815 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube_api.apps import v1 as apps
from hyperkube_api.autoscaling import v1 as autoscaling
from hyperkube_api.batch import v1 as batch
from hyperkube_api.legacy_workloads.schemas import ingresses, jobs, scales
from hyperkube_api.meta.schema_aliases import alias, list_alias
from hyperkube_api.networking import v1 as networking

from hyperkube.machinery.schema import KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="extensions",
    version="v1beta1",
    proto="k8s.io.api.extensions.v1beta1",
    openapi="io.k8s.api.extensions.v1beta1",
)

Scale = alias(scales.Scale, __name__)
HorizontalPodAutoscaler = alias(jobs.HorizontalPodAutoscaler, __name__)
HorizontalPodAutoscalerList = list_alias(autoscaling.HorizontalPodAutoscalerList, __name__)
Job = alias(jobs.Job, __name__)
JobList = list_alias(batch.JobList, __name__)
Ingress = alias(ingresses.Ingress, __name__)
IngressList = list_alias(networking.IngressList, __name__)
NetworkPolicy = alias(networking.NetworkPolicy, __name__)
NetworkPolicyList = list_alias(networking.NetworkPolicyList, __name__)


class RollbackConfig(KubeSchema):
    """The revision to go back to: part of DeploymentSpec.rollbackTo."""

    revision = f.Int64(1, omitempty=True)


class DeploymentRollback(KubeSchema):
    """The wish that a deployment goes back to a revision."""

    name = f.String(1, doc="The deployment's name.")
    updatedAnnotations = f.Map(f.String(), 2, omitempty=True, doc="What the deployment is annotated with.")
    rollbackTo = f.Struct("RollbackConfig", 3, doc="The revision; the one before the last if it is 0 or left out.")


class DaemonSetSpec(apps.DaemonSetSpec):
    """What a DaemonSet should be."""

    selector = f.Struct(
        "hyperkube_api.meta.v1:LabelSelector",
        1,
        ptr=True,
        omitempty=True,
        doc="The labels by which its pods are known; those of the template if it is left out.",
    )
    templateGeneration = f.Int64(5, omitempty=True)


class DaemonSet(apps.DaemonSet):
    """As today, but for what its specification may leave out."""

    spec = f.Struct("DaemonSetSpec", 2, omitempty=True, doc="What is wished for.")


DaemonSetList = list_alias(apps.DaemonSetList, __name__)


class DeploymentSpec(apps.DeploymentSpec):
    """What a Deployment should be."""

    selector = f.Struct(
        "hyperkube_api.meta.v1:LabelSelector",
        2,
        ptr=True,
        omitempty=True,
        doc="The labels by which its pods are known; those of the template if it is left out.",
    )
    rollbackTo = f.Struct("RollbackConfig", 8, ptr=True, omitempty=True)


class Deployment(apps.Deployment):
    """As today, but for what its specification may leave out."""

    spec = f.Struct("DeploymentSpec", 2, omitempty=True, doc="What is wished for.")


DeploymentList = list_alias(apps.DeploymentList, __name__)


class ReplicaSetSpec(apps.ReplicaSetSpec):
    """What a ReplicaSet should be."""

    selector = f.Struct(
        "hyperkube_api.meta.v1:LabelSelector",
        2,
        ptr=True,
        omitempty=True,
        doc="The labels by which its pods are known; those of the template if it is left out.",
    )


class ReplicaSet(apps.ReplicaSet):
    """As today, but for what its specification may leave out."""

    spec = f.Struct("ReplicaSetSpec", 2, omitempty=True, doc="What is wished for.")


ReplicaSetList = list_alias(apps.ReplicaSetList, __name__)
