"""Node: a kubelet may read what its own pods need, and nothing of the others'.

A secret, config map or claim belongs to a node when a pod that runs there names it; a volume when it is bound to such
a claim. Everything else a kubelet may do is a fixed list of rules. `NodeRestriction` (admission) limits what it writes.
Source: kubernetes ``plugin/pkg/auth/authorizer/node`` (node_authorizer.go, graph_populator.go).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from hyperkube_lib.pod_references import pod_references

from hyperkube.client.informer import Informer
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authz import NO_OPINION, Attributes, Decision, Rules
from hyperkube.kinds.pods import is_mirror, spec_of
from hyperkube.kinds.rbac import rule_allows
from hyperkube.kinds.resources import PERSISTENT_VOLUMES, POD_CERTIFICATE_REQUESTS, PODS, RESOURCE_SLICES
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.fields import FieldRequirement
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, annotations_of, metadata, namespace_of
from hyperkube.machinery.users import UserInfo, node_of
from hyperkube.plugin import Plugin, PluginContext

_VOLUME_ATTACHMENTS = GroupVersionResource("storage.k8s.io", "v1", "volumeattachments")
_ALLOWED = Decision("allow")
_SHORT = 128  # characters of what is asked for, so that the rules' answer is remembered
_LEASES_NAMESPACE = "kube-node-lease"
_BY_REFERENCE = "node-authorizer/reference"
_PATIENCE_SECONDS = 30.0
"""How long a node's question waits for the pods to be read: after that it is looked at by what the server has."""

_WRITES = ["create", "update", "patch"]
_READS = ["get", "list", "watch"]
_OWN = [*_WRITES, "get", "delete"]


def _rule(group: str, resources: list[str], verbs: list[str]) -> Object:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


NODE_RULES: tuple[Object, ...] = (
    _rule("authentication.k8s.io", ["tokenreviews"], ["create"]),
    _rule("authorization.k8s.io", ["subjectaccessreviews", "localsubjectaccessreviews"], ["create"]),
    _rule("", ["services"], _READS),
    _rule("", ["endpoints"], ["get"]),
    _rule("", ["events"], ["create", "patch", "update"]),
    _rule("events.k8s.io", ["events"], ["create", "patch", "update"]),
    _rule("", ["pods"], ["create", "delete"]),
    _rule("", ["pods/status"], ["patch", "update"]),
    _rule("", ["pods/eviction"], ["create"]),
    _rule("certificates.k8s.io", ["certificatesigningrequests"], ["create", "get", "list", "watch"]),
    _rule("certificates.k8s.io", ["clustertrustbundles"], _READS),
    _rule("storage.k8s.io", ["csidrivers"], _READS),
    _rule("node.k8s.io", ["runtimeclasses"], _READS),
    _rule("resource.k8s.io", ["resourceslices"], _OWN),
)
"""What any kubelet may do, whatever runs on its node."""

_NAMESPACED = frozenset({"configmaps", "persistentvolumeclaims", "resourceclaims", "secrets", "serviceaccounts"})

_MANY = {
    ("", "pods"): ("list", "watch"),
    ("certificates.k8s.io", "podcertificaterequests"): ("list", "watch"),
    ("resource.k8s.io", "resourceslices"): ("list", "watch", "deletecollection"),
}
"""What a kubelet may only do to many objects at once when a field selector limits it to its own node's."""

_OF_ONE = frozenset({"get", "update", "patch", "delete"})
_UNRELATED = "no relationship found between node '{}' and this object"

_LIMITS = {
    "podcertificaterequests": "can only list/watch podcertificaterequests with nodeName field selector",
    "pods": "can only list/watch pods with spec.nodeName field selector",
    "resourceslices": "can only list/watch/deletecollection resourceslices with nodeName field selector",
}


def references(pod: Object) -> Iterator[str]:
    """Yield ``KIND/NAMESPACE/NAME`` of everything that a pod needs its kubelet to read."""
    if is_mirror(pod):
        return
    namespace = namespace_of(pod)
    yield from (f"{kind}/{namespace}/{name}" for kind, name in pod_references(pod) if name and kind in _NAMESPACED)


def _volume_secrets(volume: Object) -> Iterator[str]:
    """Yield the secrets that a persistent volume names, and the claim it is bound to."""
    spec = volume.get("spec") or {}
    claim = spec.get("claimRef") or {}
    for source in spec.values():
        if not isinstance(source, dict):
            continue
        for member in ("secretRef", "nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"):
            secret = source.get(member)
            if isinstance(secret, dict) and secret.get("name"):
                yield f"secrets/{secret.get('namespace') or claim.get('namespace', '')}/{secret['name']}"


def project(pod: Object) -> Object:
    """Keep of a pod what tells whose it is and what its node may read for it; the rest would fill memory in vain."""
    meta = metadata(pod)
    kept: Object = {
        name: meta[name]
        for name in ("name", "namespace", "uid", "resourceVersion", "labels", "deletionTimestamp")
        if name in meta
    }
    if annotations_of(pod) and is_mirror(pod):
        kept["annotations"] = {"kubernetes.io/config.mirror": annotations_of(pod)["kubernetes.io/config.mirror"]}
    node = spec_of(pod).get("nodeName", "")
    return {
        "metadata": kept,
        "spec": {"nodeName": node},
        "references": sorted(set(references(pod))) if node else [],
    }


def _reference_index(pod: Object) -> list[str]:
    """Name each thing together with the node: most service accounts and many config maps belong to pods everywhere."""
    node = spec_of(pod).get("nodeName", "")
    return [f"{node}/{reference}" for reference in pod.get("references") or ()]


def _secret_index(volume: Object) -> list[str]:
    return list(_volume_secrets(volume))


@lru_cache(maxsize=256)
def _by_rules(verb: str, group: str, resource: str, subresource: str) -> bool:
    """Tell whether the fixed rules allow something; kubelets ask for the same few things, each of its own objects."""
    return any(rule_allows(rule, verb, group, resource, subresource) for rule in NODE_RULES)


class Node(Plugin):
    """Allows kubelets what they need; has no opinion on anybody else."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._pods: Informer | None = None
        self._volumes = self.informers.informer(PERSISTENT_VOLUMES)
        self._volumes.add_index(_BY_REFERENCE, _secret_index)
        self._attachments = self.informers.informer(_VOLUME_ATTACHMENTS)
        self._lock = threading.Lock()
        self._epoch = 0

    def start(self) -> None:
        """Count what may change decisions."""
        for informer in (self._volumes, self._attachments):
            informer.add_handler(self._changed, self._updated, self._changed)

    def waits_for(self, attributes: Attributes) -> bool:
        """Tell whether a node asks while the pods are still being read."""
        return node_of(attributes.user) is not None and not self._followed().has_synced()

    def _followed(self) -> Informer:
        """Return the pods that have nodes, which are followed from the first question of a node on.

        To list 50,000 pods takes seconds, and a cluster without nodes does not need them: the server is ready before.
        """
        if self._pods is not None:
            return self._pods
        # Two who come at once get the same informer; that its changes are counted twice then does no harm.
        # A pod that has no node yet gives no node a right: not to look at it saves a tenth of a pod's creation.
        pods = self.informers.informer(PODS, field_selector="spec.nodeName!=", project=project)
        pods.add_index(_BY_REFERENCE, _reference_index)
        self._pods = pods
        pods.add_handler(self._changed, self._updated, self._changed)
        return pods

    def _changed(self, _obj: Object) -> None:
        with self._lock:
            self._epoch += 1

    def _updated(self, old: Object, new: Object) -> None:
        if old.get("references") != new.get("references") or old.get("spec") != new.get("spec"):
            self._changed(new)

    @hookimpl
    def authz_authorize(self, attributes: Attributes) -> Decision:
        """Decide for kubelets: by what runs on the node, or by the fixed rules."""
        node = node_of(attributes.user)
        if node is None:
            return NO_OPINION
        if not node:
            return _refused(f'unknown node for user "{attributes.user.name}"')
        if attributes.is_resource:
            decision = self._by_resource(node, attributes)
            if decision is not None:
                return decision
            asked = (attributes.verb, attributes.group, attributes.resource, attributes.subresource)
            if (_by_rules if sum(map(len, asked)) <= _SHORT else _by_rules.__wrapped__)(*asked):
                return _ALLOWED
        return NO_OPINION

    @hookimpl
    def authz_epoch(self) -> int:
        """Count the changes of what runs where."""
        return self._epoch

    @hookimpl
    def authz_rules(self, user: UserInfo, namespace: str) -> Rules:
        """Say that what a kubelet may do cannot be listed."""
        if node_of(user) is None:
            return Rules()
        return Rules(incomplete=True, error="node authorizer does not support user rule resolution")

    def _by_resource(self, node: str, attributes: Attributes) -> Decision | None:
        """Decide on the resources that are divided among nodes; None for all others."""
        kind = (attributes.group, attributes.resource)
        if not attributes.subresource and attributes.verb in _MANY.get(kind, ()):
            return _own_objects(node, attributes)
        if kind == ("", "pods") and attributes.verb == "get" and not attributes.subresource:
            return self._related(node, attributes)
        if kind in {("", "secrets"), ("", "configmaps")}:
            return self._read_namespaced(node, attributes)
        if kind == ("", "persistentvolumeclaims"):
            if attributes.subresource == "status":
                return self._update_status(node, attributes)
            return self._get(node, attributes)
        if kind in {
            ("", "persistentvolumes"),
            ("resource.k8s.io", "resourceclaims"),
            ("storage.k8s.io", "volumeattachments"),
        }:
            return self._get(node, attributes)
        if kind == ("", "serviceaccounts"):
            return self._create_token(node, attributes)
        if kind == ("resource.k8s.io", "resourceslices"):
            return self._slice(node, attributes)
        if kind == ("certificates.k8s.io", "podcertificaterequests"):
            return self._pod_certificate_request(node, attributes)
        named_alike = _NAMED_ALIKE.get(kind)
        return named_alike(node, attributes) if named_alike is not None else None

    def _read_namespaced(self, node: str, attributes: Attributes) -> Decision:
        if attributes.verb not in _READS:
            return _refused("can only read resources of this type")
        if attributes.subresource:
            return _refused("cannot read subresource")
        if not attributes.namespace:
            return _refused("can only read namespaced object of this type")
        return self._related(node, attributes)

    def _get(self, node: str, attributes: Attributes) -> Decision:
        if attributes.verb != "get":
            return _refused("can only get individual resources of this type")
        if attributes.subresource:
            return _refused("cannot get subresource")
        return self._related(node, attributes)

    def _update_status(self, node: str, attributes: Attributes) -> Decision:
        if attributes.verb not in {"update", "patch"}:
            return _refused("can only get/update/patch this type")
        return self._related(node, attributes)

    def _create_token(self, node: str, attributes: Attributes) -> Decision:
        if attributes.verb != "create" or not attributes.name:
            if attributes.verb == "get" and attributes.name and not attributes.subresource:
                return self._related(node, attributes)
            return _refused("can only create tokens for individual service accounts")
        if attributes.subresource != "token":
            return _refused("can only create token subresource of serviceaccount")
        return self._related(node, attributes)

    def _slice(self, node: str, attributes: Attributes) -> Decision | None:
        """Decide on one slice by the node that it belongs to; what is created, admission looks at.

        Slices are read when they are asked for: next to no request is about one, and a memory of them all costs all.
        """
        if attributes.verb not in _OF_ONE or attributes.subresource:
            return None
        return self._names_node(node, RESOURCE_SLICES, attributes)

    def _pod_certificate_request(self, node: str, attributes: Attributes) -> Decision:
        """Decide on one request for a certificate: a node makes some, which admission looks at, and reads its own."""
        if attributes.subresource:
            return _refused("nodes may not access the status subresource of PodCertificateRequests")
        if attributes.verb == "create":
            return _ALLOWED
        if attributes.verb == "get":
            return self._names_node(node, POD_CERTIFICATE_REQUESTS, attributes)
        return _refused(f"nodes may not {attributes.verb} podcertificaterequests")

    def _names_node(self, node: str, resource: GroupVersionResource, attributes: Attributes) -> Decision:
        """Allow what an object's ``spec.nodeName`` allows."""
        try:
            known = self.client.get(resource, attributes.name, attributes.namespace) if attributes.name else {}
        except NotFound:
            known = {}
        if spec_of(known).get("nodeName") == node:
            return Decision("allow", cacheable=False)
        return replace(_refused(_UNRELATED.format(node)), cacheable=False)

    def _related(self, node: str, attributes: Attributes) -> Decision:
        if not attributes.name:
            return _refused("No Object name found")
        if not (pods := self._followed()).has_synced():
            pods.wait_synced(_PATIENCE_SECONDS)
        if self._is_related(node, attributes.resource, attributes.namespace, attributes.name):
            return _ALLOWED
        if self._is_related_by_now(node, attributes.resource, attributes.namespace, attributes.name):
            return Decision("allow", cacheable=False)
        return _refused(_UNRELATED.format(node))

    def _is_related(self, node: str, resource: str, namespace: str, name: str) -> bool:
        if resource == "volumeattachments":
            attachment = self._attachments.get("", name)
            return attachment is not None and (attachment.get("spec") or {}).get("nodeName") == node
        if resource == "persistentvolumes":
            volume = self._volumes.get("", name)
            return volume is not None and self._uses_volume(node, volume)
        if resource == "pods":
            return spec_of(self._followed().get(namespace, name) or {}).get("nodeName") == node
        reference = f"{resource}/{namespace}/{name}"
        if self._followed().by_index(_BY_REFERENCE, f"{node}/{reference}"):
            return True
        if resource != "secrets":
            return False
        return any(self._uses_volume(node, volume) for volume in self._volumes.by_index(_BY_REFERENCE, reference))

    def _is_related_by_now(self, node: str, resource: str, namespace: str, name: str) -> bool:
        """Look at the node's pods themselves: its kubelet may know one before the informer here does.

        A kubelet that is refused what its new pod needs tries again seconds later.
        """
        if resource == "pods":
            try:
                return spec_of(self.client.get(PODS, name, namespace)).get("nodeName") == node
            except NotFound:
                return False
        if resource not in _NAMESPACED:
            return False
        own, reference = f"spec.nodeName={node}", f"{resource}/{namespace}/{name}"
        return any(reference in references(pod) for pod in self.client.list(PODS, namespace, field_selector=own).items)

    def _uses_volume(self, node: str, volume: Object) -> bool:
        claim = (volume.get("spec") or {}).get("claimRef") or {}
        return bool(claim.get("name")) and self._is_related(
            node, "persistentvolumeclaims", claim.get("namespace", ""), claim["name"]
        )


def _refused(reason: str) -> Decision:
    return Decision("no opinion", reason)


def _own_lease(node: str, attributes: Attributes) -> Decision:
    if attributes.verb not in _OWN:
        return _refused("can only get, create, update, patch, or delete a node lease")
    if attributes.namespace != _LEASES_NAMESPACE:
        return _refused(f'can only access leases in the "{_LEASES_NAMESPACE}" system namespace')
    if attributes.verb != "create" and attributes.name != node:
        return _refused("can only access node lease with the same name as the requesting node")
    return _ALLOWED


def _own_csi_node(node: str, attributes: Attributes) -> Decision:
    if attributes.verb not in _OWN:
        return _refused("can only get, create, update, patch, or delete a CSINode")
    if attributes.subresource:
        return _refused("cannot authorize CSINode subresources")
    if attributes.verb != "create" and attributes.name != node:
        return _refused("can only access CSINode with the same name as the requesting node")
    return _ALLOWED


def _own_node(node: str, attributes: Attributes) -> Decision:
    verb = attributes.verb
    if attributes.subresource == "status" and verb in {"update", "patch"}:
        return _ALLOWED
    if attributes.subresource:
        return NO_OPINION
    if verb in _WRITES:
        return _ALLOWED
    if verb not in _READS:
        return NO_OPINION
    if not attributes.name:
        return _refused(f"node '{node}' cannot read all nodes, only its own Node object")
    if attributes.name != node:
        return _refused(f"node '{node}' cannot read '{attributes.name}', only its own Node object")
    return _ALLOWED


_NAMED_ALIKE = {
    ("", "nodes"): _own_node,
    ("coordination.k8s.io", "leases"): _own_lease,
    ("storage.k8s.io", "csinodes"): _own_csi_node,
}
"""What a node has one of, under its own name."""


def _own_objects(node: str, attributes: Attributes) -> Decision:
    wanted = FieldRequirement("spec.nodeName", "=", node)
    return _ALLOWED if wanted in attributes.field_selector else _refused(_LIMITS[attributes.resource])
