"""The types of PodSecurityPolicies in policy/v1beta1, declared once each: members, protobuf numbers and defaults."""

# ruff: noqa: N815 -- members bear Kubernetes' own names

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="policy",
    version="v1beta1",
    proto="k8s.io.api.policy.v1beta1",
    openapi="io.k8s.api.policy.v1beta1",
)


class AllowedCSIDriver(KubeSchema):
    """A driver whose volumes may stand in pods."""

    name = f.String(1, required=True, doc="The driver's registered name.")


class AllowedFlexVolume(KubeSchema):
    """A driver of flex volumes that may be used."""

    driver = f.String(1, required=True, doc="The driver's name.")


class AllowedHostPath(KubeSchema):
    """A folder of the node that may be mounted, with all below it."""

    pathPrefix = f.String(1, omitempty=True, doc="Where allowed paths begin, by whole names.")
    readOnly = f.Bool(2, omitempty=True, doc="Whether it may be mounted read-only alone.")


class FSGroupStrategyOptions(KubeSchema):
    """What the group of a pod's volumes may be."""

    rule = f.String(1, omitempty=True, doc="MustRunAs, MayRunAs or RunAsAny.")
    ranges = f.List("IDRange", 2, omitempty=True, doc="The allowed groups.")


class HostPortRange(KubeSchema):
    """Ports of the node, both ends included."""

    min = f.Int32(1, required=True)
    max = f.Int32(2, required=True)


class IDRange(KubeSchema):
    """Ids of users or groups, both ends included."""

    min = f.Int64(1, required=True)
    max = f.Int64(2, required=True)


class PodSecurityPolicy(KubeObject):
    """What pods must be like for those who may use the policy."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("PodSecurityPolicySpec", 2, omitempty=True, doc="What is allowed.")


class PodSecurityPolicyList(KubeObject):
    """A list of PodSecurityPolicy objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("PodSecurityPolicy", 2, required=True, nullable=True, doc="The objects.")


class PodSecurityPolicySpec(KubeSchema):
    """What a PodSecurityPolicy allows, and what it fills in."""

    privileged = f.Bool(1, omitempty=True, doc="Privileged containers.")
    defaultAddCapabilities = f.List(f.String(), 2, omitempty=True, doc="Capabilities that are added unless dropped.")
    requiredDropCapabilities = f.List(f.String(), 3, omitempty=True, doc="Capabilities that are always dropped.")
    allowedCapabilities = f.List(f.String(), 4, omitempty=True, doc="Capabilities that may be added; * for all.")
    volumes = f.List(f.String(), 5, omitempty=True, doc="Kinds of volumes; * for all, none unless given.")
    hostNetwork = f.Bool(6, omitempty=True, doc="The node's network.")
    hostPorts = f.List("HostPortRange", 7, omitempty=True, doc="Ports of the node.")
    hostPID = f.Bool(8, omitempty=True, doc="The node's processes.")
    hostIPC = f.Bool(9, omitempty=True, doc="The node's shared memory.")
    seLinux = f.Struct("SELinuxStrategyOptions", 10, doc="Labels of SELinux.")
    runAsUser = f.Struct("RunAsUserStrategyOptions", 11, doc="Users of containers.")
    supplementalGroups = f.Struct("SupplementalGroupsStrategyOptions", 12, doc="Further groups of pods.")
    fsGroup = f.Struct("FSGroupStrategyOptions", 13, doc="Groups of volumes.")
    readOnlyRootFilesystem = f.Bool(14, omitempty=True, doc="Whether containers may not write to their images.")
    defaultAllowPrivilegeEscalation = f.Bool(15, ptr=True, omitempty=True, doc="What is filled in for that.")
    allowPrivilegeEscalation = f.Bool(
        16, ptr=True, omitempty=True, default=True, doc="More rights than the parent has."
    )
    allowedHostPaths = f.List("AllowedHostPath", 17, omitempty=True, doc="Folders of the node; all unless given.")
    allowedFlexVolumes = f.List("AllowedFlexVolume", 18, omitempty=True, doc="Flex drivers; all unless given.")
    allowedUnsafeSysctls = f.List(f.String(), 19, omitempty=True, doc="Unsafe kernel settings.")
    forbiddenSysctls = f.List(f.String(), 20, omitempty=True, doc="Kernel settings that are forbidden.")
    allowedProcMountTypes = f.List(f.String(), 21, omitempty=True, doc="Ways to show /proc; Default unless given.")
    runAsGroup = f.Struct("RunAsGroupStrategyOptions", 22, ptr=True, omitempty=True, doc="Groups of containers.")
    allowedCSIDrivers = f.List("AllowedCSIDriver", 23, omitempty=True, doc="Drivers in pods; all unless given.")
    runtimeClass = f.Struct("RuntimeClassStrategyOptions", 24, ptr=True, omitempty=True, doc="Runtime classes.")


class RunAsGroupStrategyOptions(KubeSchema):
    """What the group of a container may be."""

    rule = f.String(1, required=True, doc="MustRunAs, MayRunAs or RunAsAny.")
    ranges = f.List("IDRange", 2, omitempty=True, doc="The allowed groups.")


class RunAsUserStrategyOptions(KubeSchema):
    """Who a container may run as."""

    rule = f.String(1, required=True, doc="MustRunAs, MustRunAsNonRoot or RunAsAny.")
    ranges = f.List("IDRange", 2, omitempty=True, doc="The allowed users.")


class RuntimeClassStrategyOptions(KubeSchema):
    """Which runtime classes pods may name."""

    allowedRuntimeClassNames = f.List(f.String(), 1, required=True, nullable=True, doc="The names; * for all.")
    defaultRuntimeClassName = f.String(2, ptr=True, omitempty=True, doc="What is filled in.")


class SELinuxStrategyOptions(KubeSchema):
    """What the labels of SELinux may be."""

    rule = f.String(1, required=True, doc="MustRunAs or RunAsAny.")
    seLinuxOptions = f.Struct("hyperkube_api.core.v1:SELinuxOptions", 2, ptr=True, omitempty=True, doc="The labels.")


class SupplementalGroupsStrategyOptions(KubeSchema):
    """What the further groups of a pod may be."""

    rule = f.String(1, omitempty=True, doc="MustRunAs, MayRunAs or RunAsAny.")
    ranges = f.List("IDRange", 2, omitempty=True, doc="The allowed groups.")
