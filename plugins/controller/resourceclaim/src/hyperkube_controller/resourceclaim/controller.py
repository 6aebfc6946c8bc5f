"""The loop of resourceclaim: its keys are of pods, which need claims, and of claims, which pods may need no more.

The scheduler allocates and reserves; this controller makes the claims it needs, writes their names into the pod's
status, and gives devices back. Source: kubernetes ``pkg/controller/resourceclaim/controller.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

from hyperkube_controller.resourceclaim.metrics import ANNOTATION, ResourceClaimMetrics

from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.pods import is_terminal, spec_of, status_of
from hyperkube.kinds.resources import PODS, RESOURCE_CLAIMS
from hyperkube.kinds.workloads import controller_reference
from hyperkube.machinery.errors import ApiError, HyperkubeError, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    controller_of,
    copy_object,
    has_finalizer,
    is_being_deleted,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    split_key,
    uid_of,
    without_finalizer,
)
from hyperkube.plugin import Plugin

TEMPLATES = GroupVersionResource("resource.k8s.io", "v1", "resourceclaimtemplates")
FINALIZER = "resource.kubernetes.io/delete-protection"
MOST_USERS = 256
_MANAGER = "ResourceClaimController"
_BY_CLAIM, _BY_TEMPLATE, _BY_OWNER = "resourceclaim/claim", "resourceclaim/template", "resourceclaim/owner"
_LONGEST_BASE = 57
_POD, _CLAIM = "pod:", "claim:"
_GIVEN = frozenset({"allocation", "devices"})
"""What a claim's status has of devices that are given back."""


def wanted(pod: Object) -> list[Object]:
    """Return the entries of ``spec.resourceClaims``."""
    found: list[Object] = spec_of(pod).get("resourceClaims") or []
    return found


def recorded(pod: Object) -> dict[str, str | None]:
    """Return the names of generated claims by entry, as the pod's status has them; None for one that is not needed."""
    statuses = status_of(pod).get("resourceClaimStatuses") or ()
    return {str(one["name"]): one.get("resourceClaimName") for one in statuses}


def claims_of(pod: Object) -> Iterator[tuple[Object, str, bool]]:
    """Yield each entry whose claim is known, with the claim's name and whether it was generated for the pod."""
    known = recorded(pod)
    for entry in wanted(pod):
        generated = bool(entry.get("resourceClaimTemplateName"))
        name = known.get(str(entry["name"])) if generated else entry.get("resourceClaimName")
        if name:
            yield entry, str(name), generated


def extended_claim(pod: Object) -> str:
    """Return the name of the claim that the scheduler made for the pod's extended resources, empty for none."""
    return str((status_of(pod).get("extendedResourceClaimStatus") or {}).get("resourceClaimName") or "")


def _by_claim(pod: Object) -> list[str]:
    return [f"{namespace_of(pod)}/{name}" for _, name, _ in claims_of(pod)] if wanted(pod) else []


def _by_template(pod: Object) -> list[str]:
    if not wanted(pod):
        return []
    templates = {str(entry.get("resourceClaimTemplateName") or "") for entry in wanted(pod)}
    return [f"{namespace_of(pod)}/{name}" for name in templates if name]


def _by_owner(claim: Object) -> list[str]:
    owner = controller_of(claim) or {}
    return [str(owner.get("uid"))] if owner.get("kind") == "Pod" else []


def is_done(pod: Object) -> bool:
    """Tell whether no container of the pod runs or ever will."""
    return is_terminal(pod) or (is_being_deleted(pod) and not spec_of(pod).get("nodeName"))


def is_for(claim: Object, pod: Object) -> bool:
    """Tell whether the pod is the controller of a claim."""
    return (controller_of(claim) or {}).get("uid") == uid_of(pod)


def base_name(pod: str, entry: str) -> str:
    """Return what a generated claim's name begins with; both parts are cut in proportion when they are too long."""
    whole = f"{pod}-{entry}-"
    if len(whole) <= _LONGEST_BASE:
        return whole
    return f"{pod[: len(pod) * _LONGEST_BASE // len(whole)]}-{entry[: len(entry) * _LONGEST_BASE // len(whole)]}"


def claim_for(pod: Object, entry: Object, template: Object) -> Object:
    """Return the claim to create for a pod's entry."""
    spec = template["spec"]
    meta = {
        "generateName": base_name(name_of(pod), str(entry["name"])),
        "namespace": namespace_of(pod),
        "labels": dict(labels_of(spec)),
        "annotations": {**annotations_of(spec), ANNOTATION: str(entry["name"])},
        "ownerReferences": [controller_reference(pod, "v1", "Pod")],
    }
    return {
        "kind": "ResourceClaim",
        "apiVersion": "resource.k8s.io/v1",
        "metadata": {key: value for key, value in meta.items() if value},
        "spec": copy_object(spec["spec"]),
    }


def users_of(claim: Object) -> list[Object]:
    """Return ``status.reservedFor``."""
    found: list[Object] = (claim.get("status") or {}).get("reservedFor") or []
    return found


class NotMade(HyperkubeError):
    """A claim could not be created."""


class Resourceclaim(Plugin):
    """Makes, reserves and releases the claims of pods."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop: its keys are of pods and of claims."""
        self._recorder = EventRecorder(self.client, self.context.clock, "resource_claim")
        self._pods = self.informers.informer(PODS)
        self._claims = self.informers.informer(RESOURCE_CLAIMS)
        self._templates = self.informers.informer(TEMPLATES)
        self._pods.add_index(_BY_CLAIM, _by_claim)
        self._pods.add_index(_BY_TEMPLATE, _by_template)
        self._claims.add_index(_BY_OWNER, _by_owner)
        self._metrics = ResourceClaimMetrics(self._claims.list)
        self._metrics.register(self.context)
        self._made: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._queue = loop.queue
        self._pods.add_handler(self._pod_seen, lambda _old, new: self._pod_seen(new), self._pod_gone)
        self._claims.add_handler(self._claim_seen, lambda _old, new: self._claim_seen(new), self._claim_seen)
        self._templates.add_handler(self._template_seen)
        return loop

    def _pod_seen(self, pod: Object) -> None:
        if is_done(pod):
            self._release(pod)
        elif wanted(pod):
            self._queue.add(_POD + key_of(pod))

    def _pod_gone(self, pod: Object) -> None:
        with self._lock:
            for entry in wanted(pod):
                self._made.pop((uid_of(pod), str(entry["name"])), None)
        self._release(pod)

    def _release(self, pod: Object) -> None:
        names = [name for _, name, _ in claims_of(pod)]
        for name in (*names, extended_claim(pod)):
            if name:
                self._queue.add(f"{_CLAIM}{namespace_of(pod)}/{name}")

    def _claim_seen(self, claim: Object) -> None:
        self._queue.add(_CLAIM + key_of(claim))
        for pod in self._pods.by_index(_BY_CLAIM, key_of(claim)):
            self._pod_seen(pod)

    def _template_seen(self, template: Object) -> None:
        for pod in self._pods.by_index(_BY_TEMPLATE, key_of(template)):
            self._pod_seen(pod)

    def _sync(self, key: str) -> None:
        if key.startswith(_POD):
            pod = self._pods.get(*split_key(key.removeprefix(_POD)))
            if pod is not None and not is_being_deleted(pod):
                self._sync_pod(pod)
            return
        claim = self._claims.get(*split_key(key.removeprefix(_CLAIM)))
        if claim is not None:
            self._sync_claim(claim)

    def _sync_pod(self, pod: Object) -> None:
        made: dict[str, str] = {}
        for entry in wanted(pod):
            try:
                name = self._ensure(pod, entry)
            except (ApiError, NotMade) as error:
                text = f"PodResourceClaim {entry['name']}: {error}"
                self._recorder.event(pod, "Warning", "FailedResourceClaimCreation", text)
                raise
            if name:
                made[str(entry["name"])] = name
        if made:
            names = {**recorded(pod), **made}
            statuses = [{"name": one, **({"resourceClaimName": name} if name else {})} for one, name in names.items()]
            patch = {"metadata": {"uid": uid_of(pod)}, "status": {"resourceClaimStatuses": statuses}}
            self.client.patch(
                PODS, name_of(pod), patch, namespace_of(pod), subresource="status", field_manager=_MANAGER
            )
        if spec_of(pod).get("nodeName"):
            self._reserve(pod)

    def _ensure(self, pod: Object, entry: Object) -> str:
        """Return the name of a claim that the pod's status does not have yet, empty when nothing is to be written."""
        template, known = entry.get("resourceClaimTemplateName"), recorded(pod)
        if not template:
            return ""
        name = str(entry["name"])
        if name in known:
            there = self._claims.get(namespace_of(pod), known[name] or "")
            if known[name] is None or (there is not None and is_for(there, pod)):
                return ""
        found = self._generated(pod, name)
        return found or self._create(pod, entry, str(template))

    def _generated(self, pod: Object, entry: str) -> str:
        """Return the name of the claim that was made for an entry, perhaps by a predecessor that then ended."""
        for claim in self._claims.by_index(_BY_OWNER, uid_of(pod)):
            if annotations_of(claim).get(ANNOTATION) == entry and namespace_of(claim) == namespace_of(pod):
                return name_of(claim)
        with self._lock:
            made = self._made.get((uid_of(pod), entry), "")
        if made:
            try:
                self.client.get(RESOURCE_CLAIMS, made, namespace_of(pod))
            except NotFound:
                return ""
        return made

    def _create(self, pod: Object, entry: Object, template: str) -> str:
        found = self._templates.get(namespace_of(pod), template)
        if found is None:
            missing = f'resourceclaimtemplate.resource.k8s.io "{template}" not found'
            raise NotFound(f'resource claim template "{template}": {missing}')
        claim = claim_for(pod, entry, found)
        try:
            made = self.client.create(RESOURCE_CLAIMS, claim, namespace_of(pod), field_manager=_MANAGER)
        except ApiError as error:
            self._metrics.created(claim["spec"], success=False)
            raise NotMade(f"create ResourceClaim : {error}") from error
        self._metrics.created(claim["spec"], success=True)
        with self._lock:
            self._made[(uid_of(pod), str(entry["name"]))] = name_of(made)
        return name_of(made)

    def _reserve(self, pod: Object) -> None:
        """Reserve allocated claims for a pod that is on its node without the scheduler's doing."""
        for _, name, generated in claims_of(pod):
            claim = self._claims.get(namespace_of(pod), name)
            if claim is None or (generated and not is_for(claim, pod)):
                continue
            users = users_of(claim)
            reserved = any(one.get("uid") == uid_of(pod) for one in users)
            if (claim.get("status") or {}).get("allocation") and not reserved and len(users) < MOST_USERS:
                user = {"resource": "pods", "name": name_of(pod), "uid": uid_of(pod)}
                self._write_status(claim, {**claim["status"], "reservedFor": [*users, user]})

    def _sync_claim(self, claim: Object) -> None:
        users = users_of(claim)
        valid = [one for one in users if self._needs(namespace_of(claim), one)]
        status = claim.get("status") or {}
        protected = has_finalizer(claim, FINALIZER)
        if len(valid) < len(users):
            left = {**status, "reservedFor": valid}
            if not valid and protected:
                left = {key: one for key, one in left.items() if key not in _GIVEN}
            written = self._write_status(claim, left)
            if protected and "allocation" not in left:
                self._unprotect(written)
        elif protected and is_being_deleted(claim) and not valid:
            if "allocation" in status:
                claim = self._write_status(claim, {key: one for key, one in status.items() if key not in _GIVEN})
            self._unprotect(claim)
        if not valid:
            self._delete_unused(claim)

    def _needs(self, namespace: str, user: Object) -> bool:
        """Tell whether a reservation still holds; the API is asked about a pod that the cache does not have."""
        if user.get("apiGroup") or user.get("resource") != "pods":
            return True
        pod = self._pods.get(namespace, str(user["name"]))
        if pod is None:
            try:
                pod = self.client.get(PODS, str(user["name"]), namespace)
            except NotFound:
                return False
            return uid_of(pod) == user.get("uid")
        return uid_of(pod) == user.get("uid") and not is_done(pod)

    def _delete_unused(self, claim: Object) -> None:
        """Delete a generated claim whose pod was replaced or has ended; the collector sees to pods that are gone."""
        owner = controller_of(claim) or {}
        if owner.get("kind") != "Pod" or is_being_deleted(claim):
            return
        pod = self._pods.get(namespace_of(claim), str(owner.get("name")))
        if pod is None or (uid_of(pod) == owner.get("uid") and not is_done(pod)):
            return
        options = {"preconditions": {"uid": uid_of(claim)}}
        try:
            self.client.delete(RESOURCE_CLAIMS, name_of(claim), namespace_of(claim), options=options)
        except NotFound:
            return

    def _write_status(self, claim: Object, status: Object) -> Object:
        changed = {**claim, "status": {key: value for key, value in status.items() if value}}
        return self.client.update(RESOURCE_CLAIMS, changed, namespace_of(claim), subresource="status")

    def _unprotect(self, claim: Object) -> None:
        self.client.update(RESOURCE_CLAIMS, without_finalizer(claim, FINALIZER), namespace_of(claim))
