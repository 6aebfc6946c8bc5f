"""What a pod refers to: every object that its kubelet has to read for it, by each way in which a pod can name one.

What decides by them (which node may read a secret, what a mirror pod may not name, which secrets an account allows)
must know all ways, or the one that is forgotten is the way in.
Source: kubernetes ``pkg/api/v1/pod/util.go`` (VisitPodSecretNames, VisitPodConfigmapNames).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperkube.kinds.pods import containers, spec_of
from hyperkube.kinds.volumes import claim_name
from hyperkube.machinery.objects import Object

_SECRETIVE = frozenset({"azureFile", "cephfs", "cinder", "csi", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"})
"""Volumes that may name a secret to reach them with."""
_SECRET_MEMBERS = ("secretRef", "nodePublishSecretRef")
_PROJECTED = (
    ("secret", "secrets"),
    ("configMap", "configmaps"),
    ("clusterTrustBundle", "clustertrustbundles"),
    ("podCertificate", "podcertificaterequests"),
)


class Reference(NamedTuple):
    """An object that a pod names: the plural of its kind and its name, empty where it is chosen otherwise."""

    kind: str
    name: str


def pod_references(pod: Object) -> Iterator[Reference]:
    """Yield all that a pod refers to, also what has no name yet; an object may come several times."""
    spec, status = spec_of(pod), pod.get("status") or {}
    if spec.get("serviceAccountName"):
        yield Reference("serviceaccounts", spec["serviceAccountName"])
    for secret in spec.get("imagePullSecrets") or ():
        yield Reference("secrets", str(secret.get("name") or ""))
    for container in containers(pod):
        yield from container_references(container)
    for volume in spec.get("volumes") or ():
        yield from volume_references(pod, volume)
    for claim in (*(status.get("resourceClaimStatuses") or ()), *(spec.get("resourceClaims") or ())):
        yield Reference("resourceclaims", str(claim.get("resourceClaimName") or ""))
    if extended := status.get("extendedResourceClaimStatus"):
        yield Reference("resourceclaims", str(extended.get("resourceClaimName") or ""))


def container_references(container: Object) -> Iterator[Reference]:
    """Yield what the environment of a container is made of."""
    for source in container.get("envFrom") or ():
        for member, kind in (("secretRef", "secrets"), ("configMapRef", "configmaps")):
            if source.get(member):
                yield Reference(kind, str(source[member].get("name") or ""))
    for variable in container.get("env") or ():
        value = variable.get("valueFrom") or {}
        for member, kind in (("secretKeyRef", "secrets"), ("configMapKeyRef", "configmaps")):
            if value.get(member):
                yield Reference(kind, str(value[member].get("name") or ""))


def volume_references(pod: Object, volume: Object) -> Iterator[Reference]:
    """Yield what one volume of a pod refers to."""
    if volume.get("secret"):
        yield Reference("secrets", str(volume["secret"].get("secretName") or ""))
    if volume.get("configMap"):
        yield Reference("configmaps", str(volume["configMap"].get("name") or ""))
    claim = claim_name(pod, volume)
    if claim is not None:
        yield Reference("persistentvolumeclaims", claim)
    for source in (volume.get("projected") or {}).get("sources") or ():
        for member, kind in _PROJECTED:
            if source.get(member):
                yield Reference(kind, str(source[member].get("name") or ""))
    for member in _SECRETIVE & volume.keys():
        source = volume[member] or {}
        named: Object = next((source[each] for each in _SECRET_MEMBERS if source.get(each)), {})
        name = named.get("name") or source.get("secretName")
        if name:
            yield Reference("secrets", str(name))
