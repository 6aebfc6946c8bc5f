"""NodeRestriction: a kubelet that has been taken over can harm its own node only.

A kubelet writes its own Node, the status of its own pods, its own lease and CSI node. It cannot set labels by which
workloads choose nodes, nor lift taints, nor ask for tokens of pods that run elsewhere.
Source: kubernetes ``plugin/pkg/admission/noderestriction``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from hyperkube_admission.node_restriction.pod_certificates import PodCertificateRequests
from hyperkube_lib.pod_references import pod_references

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import is_mirror, spec_of
from hyperkube.kinds.resources import CSI_DRIVERS, NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from hyperkube.kinds.volumes import claim_name
from hyperkube.machinery.errors import Forbidden, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, labels_of, name_of, namespace_of, owners_of, uid_of
from hyperkube.machinery.users import NODE_PREFIX, node_of
from hyperkube.plugin import Plugin

_LEASES_NAMESPACE = "kube-node-lease"
_RESTRICTED = "node-restriction.kubernetes.io"
_OWN_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
_OWN_LABELS = frozenset(
    {
        "kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch",
        "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
        "beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/os", "beta.kubernetes.io/arch",
    }
)  # fmt: skip
"""The labels of Kubernetes' own domains that a kubelet may set."""


_REFERENCED = {
    "serviceaccounts": "a service account",
    **{
        kind: kind
        for kind in (
            "secrets", "configmaps", "clustertrustbundles", "podcertificaterequests", "persistentvolumeclaims",
            "resourceclaims",
        )
    },
}  # fmt: skip
"""What a mirror pod may not refer to, and how that is said; the first that it does is told."""


def _in_domain(namespace: str, domain: str) -> bool:
    return namespace == domain or namespace.endswith(f".{domain}")


def forbidden_labels(new: dict[str, str], old: dict[str, str]) -> list[str]:
    """Return the changed labels that a kubelet may not touch."""
    if new == old:
        return []
    changed = [key for key in {**new, **old} if new.get(key) != old.get(key)]
    return sorted(key for key in changed if _is_forbidden(key))


def _is_forbidden(key: str) -> bool:
    namespace, slash, _ = key.partition("/")
    if not slash:
        return False
    if _in_domain(namespace, _RESTRICTED):
        return True
    if not (_in_domain(namespace, "kubernetes.io") or _in_domain(namespace, "k8s.io")):
        return False
    return key not in _OWN_LABELS and not any(_in_domain(namespace, own) for own in _OWN_NAMESPACES)


class NodeRestriction(Plugin):
    """Checks what kubelets write; others pass."""

    may_block = False
    only_refuses = True

    def is_idle(self, request: AdmissionRequest) -> bool:
        """Tell whether it is no kubelet that writes."""
        return node_of(request.user) is None or request.operation == "CONNECT"

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Refuse what the client asks for, also where it would come to nothing: taints that come with a status."""
        if request.resource == NODES and request.operation == "UPDATE":
            self.admission_validate(request)

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Refuse what is not the node's own."""
        node = node_of(request.user)
        if node is None or request.operation == "CONNECT":
            return
        if not node:
            raise Forbidden(f'could not determine node from user "{request.user.name}"')
        check = self._checks.get((request.resource.group, request.resource.resource))
        if check is not None:
            check(node, request)

    @cached_property
    def _checks(self) -> dict[tuple[str, str], Callable[[str, AdmissionRequest], None]]:
        return {
            ("", "pods"): self._pod,
            ("", "nodes"): self._node,
            ("", "persistentvolumeclaims"): self._claim,
            ("", "serviceaccounts"): self._token,
            ("coordination.k8s.io", "leases"): self._lease,
            ("storage.k8s.io", "csinodes"): self._csi_node,
            ("resource.k8s.io", "resourceslices"): self._slice,
            ("certificates.k8s.io", "certificatesigningrequests"): self._signing_request,
            ("certificates.k8s.io", "podcertificaterequests"): PodCertificateRequests(self.client).check,
        }

    def _pod(self, node: str, request: AdmissionRequest) -> None:
        if request.subresource == "status":
            self._pod_status(node, request)
        elif request.subresource == "eviction":
            self._eviction(node, request)
        elif request.subresource:
            raise Forbidden(
                f"unexpected pod subresource \"{request.subresource}\", only 'status' and 'eviction' are allowed"
            )
        elif request.operation == "CREATE":
            self._mirror_pod(node, request.written())
        elif request.operation == "DELETE":
            pod = request.old_object or self.client.get(PODS, request.name, request.namespace)
            if spec_of(pod).get("nodeName") != node:
                raise Forbidden(f'node "{node}" can only delete pods with spec.nodeName set to itself')
        else:
            raise Forbidden(
                f'unexpected operation "{request.operation}", node "{node}" can only create and delete mirror pods'
            )

    def _mirror_pod(self, node: str, pod: Object) -> None:
        if not is_mirror(pod):
            annotation = '"kubernetes.io/config.mirror"'
            raise Forbidden(f'pod does not have {annotation} annotation, node "{node}" can only create mirror pods')
        if spec_of(pod).get("nodeName") != node:
            raise Forbidden(f'node "{node}" can only create pods with spec.nodeName set to itself')
        self._check_owner(node, pod)
        kind = _referenced_kind(pod)
        if kind:
            raise Forbidden(f'node "{node}" can not create pods that reference {kind}')

    def _check_owner(self, node: str, pod: Object) -> None:
        owners = owners_of(pod)
        if len(owners) > 1:
            raise Forbidden(f'node "{node}" can only create pods with a single owner reference set to itself')
        owner = owners[0] if owners else {}
        if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != ("v1", "Node", node):
            raise Forbidden(f'node "{node}" can only create pods with an owner reference set to itself')
        if not owner.get("controller"):
            raise Forbidden(f'node "{node}" can only create pods with a controller owner reference set to itself')
        if owner.get("blockOwnerDeletion"):
            raise Forbidden(f'node "{node}" must not set blockOwnerDeletion on an owner reference')
        known = uid_of(self.client.get(NODES, node))
        if owner.get("uid") != known:
            raise Forbidden(f"node {node} UID mismatch: expected {owner.get('uid', '')} got {known}")

    def _pod_status(self, node: str, request: AdmissionRequest) -> None:
        if request.operation != "UPDATE" or request.old_object is None:
            raise Forbidden(f'unexpected operation "{request.operation}"')
        old, new = request.old_object, request.written()
        if spec_of(old).get("nodeName") != node:
            text = f'node "{node}" can only update pod status for pods with spec.nodeName set to itself'  # noqa: S608  no SQL
            raise Forbidden(text)
        if labels_of(old) != labels_of(new):
            raise Forbidden(f'node "{node}" cannot update labels through pod status')
        claims = [(obj.get("status") or {}).get("resourceClaimStatuses") or [] for obj in (old, new)]
        if claims[0] != claims[1]:
            raise Forbidden(f'node "{node}" cannot update resource claim statuses')

    def _eviction(self, node: str, request: AdmissionRequest) -> None:
        if request.operation != "CREATE":
            raise Forbidden(f"unexpected operation {request.operation}")
        name = request.name or name_of(request.written())
        if not name:
            raise Forbidden("could not determine pod from request data")
        if spec_of(self.client.get(PODS, name, request.namespace)).get("nodeName") != node:
            raise Forbidden(f"node {node} can only evict pods with spec.nodeName set to itself")

    def _node(self, node: str, request: AdmissionRequest) -> None:
        name = request.name or name_of(request.object or request.old_object or {})
        if name != node:
            raise Forbidden(f'node "{node}" is not allowed to modify node "{name}"')
        if request.operation == "DELETE":
            return
        if request.operation == "CREATE":
            self._new_node(node, request.written())
        else:
            self._changed_node(node, request.written(), request.old_object or {})

    def _new_node(self, node: str, new: Object) -> None:
        if spec_of(new).get("configSource") is not None:
            raise Forbidden(f'node "{node}" is not allowed to create pods with a non-nil configSource')
        if owners_of(new):
            raise Forbidden(f'node "{node}" is not allowed to modify ownerReferences')
        labels = forbidden_labels(labels_of(new), {})
        if labels:
            raise Forbidden(f'node "{node}" is not allowed to set the following labels: {", ".join(labels)}')

    def _changed_node(self, node: str, new: Object, old: Object) -> None:
        source = spec_of(new).get("configSource")
        if source is not None and source != spec_of(old).get("configSource"):
            raise Forbidden(f'node "{node}" is not allowed to update configSource to a new non-nil configSource')
        if (spec_of(new).get("taints") or []) != (spec_of(old).get("taints") or []):
            raise Forbidden(f'node "{node}" is not allowed to modify taints')
        if owners_of(new) != owners_of(old):  # the garbage collector would delete the node for a lost owner
            raise Forbidden(f'node "{node}" is not allowed to modify ownerReferences')
        labels = forbidden_labels(labels_of(new), labels_of(old))
        if labels:
            raise Forbidden(f"is not allowed to modify labels: {', '.join(labels)}")

    def _claim(self, node: str, request: AdmissionRequest) -> None:
        if request.subresource != "status":
            raise Forbidden("may only update PVC status")
        if request.operation != "UPDATE" or request.old_object is None:
            raise Forbidden(f'unexpected operation "{request.operation}"')
        if _fixed_parts(request.written()) != _fixed_parts(request.old_object):
            raise Forbidden(
                f'node "{node}" is not allowed to update fields other than status.capacity and status.conditions'
            )

    def _token(self, node: str, request: AdmissionRequest) -> None:
        if request.operation != "CREATE" or request.subresource != "token":
            return
        reference = (request.written().get("spec") or {}).get("boundObjectRef") or {}
        if reference.get("apiVersion") != "v1" or reference.get("kind") != "Pod" or not reference.get("name"):
            raise Forbidden("node requested token not bound to a pod")
        if not reference.get("uid"):
            raise Forbidden("node requested token with a pod binding without a uid")
        pod = self.client.get(PODS, reference["name"], request.namespace)
        if uid_of(pod) != reference["uid"]:
            raise Forbidden(
                f"the UID in the bound object reference ({reference['uid']}) does not match the UID in record. "
                "The object might have been deleted and then recreated"
            )
        if spec_of(pod).get("nodeName") != node:
            raise Forbidden("node requested token bound to a pod scheduled on a different node")
        self._check_audience(request, pod)

    def _check_audience(self, request: AdmissionRequest, pod: Object) -> None:
        """Insist that the pod asks for the token's audience, by a volume or a CSI driver, or that RBAC allows it."""
        asked = (request.written().get("spec") or {}).get("audiences") or [""]
        if len(asked) > 1:
            raise Forbidden("node may only request 0 or 1 audiences")
        audience = str(asked[0])
        if audience in self._audiences(pod):
            return
        verb, of = "request-serviceaccounts-token-audience", GroupVersionResource("", "v1", audience)
        if not audience or not request.may(verb, of, namespace=request.namespace, name=request.name):
            raise Forbidden(
                f'audience "{audience}" not found in pod spec volume, {request.user.name} is not authorized to request '
                "tokens for this audience"
            )

    def _audiences(self, pod: Object) -> Iterator[str]:
        """Yield the audiences of all tokens that the volumes of a pod need."""
        for volume in spec_of(pod).get("volumes") or ():
            for source in (volume.get("projected") or {}).get("sources") or ():
                if source.get("serviceAccountToken") is not None:
                    yield str(source["serviceAccountToken"].get("audience") or "")
            driver = self._driver(pod, volume)
            if driver:
                requests = (self._find(CSI_DRIVERS, driver).get("spec") or {}).get("tokenRequests") or ()
                yield from (str(one.get("audience") or "") for one in requests)

    def _driver(self, pod: Object, volume: Object) -> str:
        """Return the CSI driver behind a volume of a pod, inline or behind a claim; empty for none."""
        if volume.get("csi"):
            return str(volume["csi"].get("driver") or "")
        name = claim_name(pod, volume)
        if not name:
            return ""
        bound = spec_of(self._find(PERSISTENT_VOLUME_CLAIMS, name, namespace_of(pod))).get("volumeName") or ""
        source = spec_of(self._find(PERSISTENT_VOLUMES, bound)).get("csi") if bound else None
        return str((source or {}).get("driver") or "")

    def _find(self, resource: GroupVersionResource, name: str, namespace: str = "") -> Object:
        try:
            return self.client.get(resource, name, namespace)
        except NotFound:
            return {}

    def _signing_request(self, node: str, request: AdmissionRequest) -> None:
        from hyperkube_lib.certificate_requests import (  # cryptography is slow to import, and joining nodes are rare
            KUBELET_CLIENT,
            KUBELET_SERVING,
            BadRequestContent,
            common_name,
            parse,
        )

        if request.operation != "CREATE" or request.subresource:
            return
        if spec_of(request.written()).get("signerName") not in {KUBELET_CLIENT, KUBELET_SERVING}:
            return
        try:
            name = common_name(parse(request.written()))
        except BadRequestContent as error:
            raise Forbidden(f"unable to parse csr: {error}") from error
        if name != NODE_PREFIX + node:
            raise Forbidden(f"can only create a node CSR with CN={NODE_PREFIX}{node}")

    def _lease(self, node: str, request: AdmissionRequest) -> None:
        if request.namespace != _LEASES_NAMESPACE:
            raise Forbidden(f'can only access leases in the "{_LEASES_NAMESPACE}" system namespace')
        if _written_name(request) != node:
            raise Forbidden("can only access node lease with the same name as the requesting node")

    def _csi_node(self, node: str, request: AdmissionRequest) -> None:
        if _written_name(request) != node:
            raise Forbidden("can only access CSINode with the same name as the requesting node")

    def _slice(self, node: str, request: AdmissionRequest) -> None:
        of = spec_of(request.object or request.old_object or {}).get("nodeName")
        if request.operation == "CREATE" and of != node:
            raise Forbidden("can only create ResourceSlice with the same NodeName as the requesting node")
        if request.operation == "DELETE" and of != node:
            raise Forbidden("can only delete ResourceSlice with the same NodeName as the requesting node")


def _written_name(request: AdmissionRequest) -> str:
    return name_of(request.written()) if request.operation == "CREATE" else request.name


def _fixed_parts(claim: Object) -> Object:
    """Return what of a claim a kubelet may not change."""
    changing = {"capacity", "conditions", "allocatedResources", "allocatedResourceStatuses"}
    status = {name: value for name, value in (claim.get("status") or {}).items() if name not in changing}
    meta = {
        name: value
        for name, value in (claim.get("metadata") or {}).items()
        if name not in {"resourceVersion", "managedFields"}
    }
    return {"metadata": meta, "spec": claim.get("spec"), "status": status}


def _referenced_kind(pod: Object) -> str:
    """Return the first kind of object that a pod refers to and a mirror pod may not; empty for none."""
    kinds = {kind for kind, _ in pod_references(pod)}
    return next((shown for kind, shown in _REFERENCED.items() if kind in kinds), "")
