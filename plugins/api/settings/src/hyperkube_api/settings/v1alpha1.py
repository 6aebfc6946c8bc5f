"""The types of settings.k8s.io/v1alpha1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="settings.k8s.io",
    version="v1alpha1",
    proto="k8s.io.api.settings.v1alpha1",
    openapi="io.k8s.api.settings.v1alpha1",
)


class PodPreset(KubeObject):
    """What pods with certain labels get added when they are created."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("PodPresetSpec", 2, omitempty=True, doc="What is added, and to which pods.")


class PodPresetList(KubeObject):
    """A list of PodPreset objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("PodPreset", 2, required=True, nullable=True, doc="The objects.")


class PodPresetSpec(KubeSchema):
    """What a PodPreset adds, and to which pods."""

    selector = f.Struct(
        "hyperkube_api.meta.v1:LabelSelector", 1, omitempty=True, doc="Which pods of the namespace; an empty one: all."
    )
    env = f.List("hyperkube_api.core.v1:EnvVar", 2, omitempty=True, doc="Variables for each container.")
    envFrom = f.List(
        "hyperkube_api.core.v1:EnvFromSource", 3, omitempty=True, doc="Sources of variables for each container."
    )
    volumes = f.List("hyperkube_api.core.v1:Volume", 4, omitempty=True, doc="Volumes for the pod.")
    volumeMounts = f.List(
        "hyperkube_api.core.v1:VolumeMount", 5, omitempty=True, doc="Where each container sees the volumes."
    )
