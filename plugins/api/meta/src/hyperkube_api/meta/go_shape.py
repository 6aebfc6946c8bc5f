"""The JSON of Kubernetes' internal Go structs, in which refusals show values.

Internal types have no JSON tags: members carry Go's names, in Go's order, and empty ones are written, too. The shape
is made from the versioned schema, with the few places where the internal types differ listed here.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube.machinery.schema.base import KubeSchema
    from hyperkube.machinery.schema.fields import KubeField

_GO_NAMES = {
    "dnsPolicy": "DNSPolicy", "dnsConfig": "DNSConfig", "tty": "TTY", "os": "OS", "csi": "CSI", "nfs": "NFS",
    "iscsi": "ISCSI", "rbd": "RBD", "fc": "FC", "uid": "UID", "apiVersion": "APIVersion", "ip": "IP",
    "gcePersistentDisk": "GCEPersistentDisk", "awsElasticBlockStore": "AWSElasticBlockStore", "cephfs": "CephFS",
    "httpGet": "HTTPGet", "tcpSocket": "TCPSocket", "grpc": "GRPC", "httpHeaders": "HTTPHeaders",
    "fsGroup": "FSGroup", "fsGroupChangePolicy": "FSGroupChangePolicy", "fsType": "FSType",
    "seLinuxOptions": "SELinuxOptions", "seLinuxChangePolicy": "SELinuxChangePolicy", "storageos": "StorageOS",
    "pdName": "PDName", "iqn": "IQN", "wwids": "WWIDs", "gmsaCredentialSpec": "GMSACredentialSpec",
    "gmsaCredentialSpecName": "GMSACredentialSpecName", "apiGroup": "APIGroup", "pdID": "PdID",
    "cel": "CEL", "iscsiInterface": "ISCSIInterface", "chapAuthDiscovery": "DiscoveryCHAPAuth",
    "chapAuthSession": "SessionCHAPAuth", "diskURI": "DataDiskURI", "sslEnabled": "SSLEnabled",
}  # fmt: skip
_RBD = {"monitors": "CephMonitors", "image": "RBDImage", "pool": "RBDPool", "user": "RadosUser"}
_GLUSTERFS = {"endpoints": "EndpointsName"}
_NAMES_OF_TYPE = {
    "RBDVolumeSource": _RBD,
    "RBDPersistentVolumeSource": _RBD,
    "GlusterfsVolumeSource": _GLUSTERFS,
    "GlusterfsPersistentVolumeSource": _GLUSTERFS,
}
"""Names that members have in some types only."""
_PERSISTENT_VOLUME_SOURCES = (
    "GCEPersistentDisk", "AWSElasticBlockStore", "HostPath", "Glusterfs", "NFS", "RBD", "Quobyte", "ISCSI",
    "FlexVolume", "Cinder", "CephFS", "FC", "Flocker", "AzureFile", "VsphereVolume", "AzureDisk",
    "PhotonPersistentDisk", "PortworxVolume", "ScaleIO", "Local", "StorageOS", "CSI",
)  # fmt: skip
_POD_SPEC_ORDER = (
    "Volumes", "InitContainers", "Containers", "EphemeralContainers", "RestartPolicy",
    "TerminationGracePeriodSeconds", "ActiveDeadlineSeconds", "DNSPolicy", "NodeSelector", "ServiceAccountName",
    "AutomountServiceAccountToken", "NodeName", "SecurityContext", "ImagePullSecrets", "Hostname", "Subdomain",
    "SetHostnameAsFQDN", "Affinity", "SchedulerName", "Tolerations", "HostAliases", "PriorityClassName", "Priority",
    "PreemptionPolicy", "DNSConfig", "ReadinessGates", "RuntimeClassName", "Overhead", "EnableServiceLinks",
    "TopologySpreadConstraints", "OS", "SchedulingGates", "ResourceClaims", "Resources", "HostnameOverride",
)  # fmt: skip
_POD_SECURITY_ORDER = (
    "SELinuxOptions", "WindowsOptions", "RunAsUser", "RunAsGroup", "RunAsNonRoot", "SupplementalGroups",
    "SupplementalGroupsPolicy", "FSGroup", "FSGroupChangePolicy", "Sysctls", "SeccompProfile", "AppArmorProfile",
    "SELinuxChangePolicy",
)  # fmt: skip
_HOST_MEMBERS = ("HostNetwork", "HostPID", "HostIPC", "ShareProcessNamespace", "HostUsers")
_TEMPLATES = frozenset({"PodTemplateSpec", "JobTemplateSpec", "PersistentVolumeClaimTemplate"})
_TAGGED = "hyperkube_api.meta.v1"
"""Types of this module have JSON tags: they look the same inside and outside."""


def go_shape(schema: str, value: Object) -> Any:
    """Return the internal JSON of a value of a type, named ``package.module:Class``."""
    from hyperkube.machinery.schema import resolve

    return _struct(resolve(schema), value)


def _struct(schema: type[KubeSchema], value: Object | None) -> Any:
    if schema.__module__ == _TAGGED:
        return value or {}
    given = value or {}
    own = _NAMES_OF_TYPE.get(schema.__name__) or {}
    shape: Object = {}
    for name, field, inline in _members(schema):
        if inline is not None:
            shape |= _struct(inline, given)
        elif name == "metadata" and schema.__name__ in _TEMPLATES:
            shape |= {key: item for key, item in (given.get(name) or {}).items() if item is not None}
        else:
            shape[own.get(name) or _go_name(name)] = _value(field, given.get(name))
    return _arranged(schema.__name__, shape)


@cache
def _members(schema: type[KubeSchema]) -> tuple[tuple[str, KubeField, type[KubeSchema] | None], ...]:
    from hyperkube.machinery.schema.fields import Inline

    return tuple(
        (name, field, field.schema() if isinstance(field, Inline) else None)
        for name, field in schema.declared().items()
        if name not in {"kind", "apiVersion"} or not _is_object(schema)
    )


def _is_object(schema: type[KubeSchema]) -> bool:
    return "metadata" in schema.declared()


def _go_name(name: str) -> str:
    return _GO_NAMES.get(name) or name[:1].upper() + name[1:]


def _value(field: KubeField, value: Any) -> Any:
    from hyperkube.machinery.schema.fields import List, Map, Struct

    if isinstance(field, List):
        return None if value is None else [_value(field.items, item) for item in value]
    if isinstance(field, Map):
        return {key: _value(field.items, item) for key, item in sorted(value.items())} if value is not None else None
    if isinstance(field, Struct):
        return None if value is None and field.ptr else _struct(field.schema(), value)
    if value is not None or field.ptr:
        return value
    return _zero(field)


_ZEROS = {"string": "", "bool": False, "int32": 0, "int64": 0, "float64": 0, "quantity": "0", "int_or_string": 0}


def _zero(field: KubeField) -> Any:
    return _ZEROS.get(field.scalar)


def _arranged(name: str, shape: Object) -> Object:
    """Move what the internal types keep elsewhere."""
    if name == "PodSecurityContext":
        return {member: shape[member] for member in _POD_SECURITY_ORDER if member in shape}
    if name == "PersistentVolumeSource":
        return {member: shape[member] for member in _PERSISTENT_VOLUME_SOURCES if member in shape}
    if name == "VolumeSource" and "Quobyte" in shape:
        return _quobyte_after_rbd(shape)
    if name != "PodSpec":
        return shape
    shape.pop("ServiceAccount", None)
    context = shape.get("SecurityContext")
    host = {member: shape.pop(member, None) for member in _HOST_MEMBERS}
    for member in ("HostNetwork", "HostPID", "HostIPC"):
        host[member] = bool(host[member])
    if context is not None:
        shape["SecurityContext"] = {**host, **context}
    known = {member: shape.pop(member) for member in _POD_SPEC_ORDER if member in shape}
    return {**known, **shape}


def _quobyte_after_rbd(shape: Object) -> Object:
    quobyte = shape.pop("Quobyte")
    arranged: Object = {}
    for name, value in shape.items():
        arranged[name] = value
        if name == "RBD":
            arranged["Quobyte"] = quobyte
    return arranged
