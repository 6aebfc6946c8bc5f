"""Scale as the workloads' own groups had it, before there was one for all: the selector is shown as a map too."""

# ruff: noqa: N815 -- members bear Kubernetes' own names

from hyperkube.machinery.schema import KubeObject, KubeSchema
from hyperkube.machinery.schema import fields as f


class ScaleSpec(KubeSchema):
    """How many replicas are desired."""

    replicas = f.Int32(1, omitempty=True)


class ScaleStatus(KubeSchema):
    """How many replicas there are, and how their pods are known."""

    replicas = f.Int32(1, required=True)
    selector = f.Map(f.String(), 2, omitempty=True, map_type="atomic")
    targetSelector = f.String(3, omitempty=True)


class Scale(KubeObject):
    """The replica count of a workload."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("ScaleSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("ScaleStatus", 3, omitempty=True, doc="What is observed.")
