"""namespace: a namespace that is being deleted is emptied first, whatever kinds of things are in it.

The server's discovery tells what can be in a namespace. Pods are deleted first, with their grace, and everything else
once none is left. What is still there is looked at again, and conditions tell people what the namespace waits for. Once
it is empty, the finalizer ``kubernetes`` goes, and the namespace with it.
Source: kubernetes ``pkg/controller/namespace/deletion``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime

from hyperkube.client.actions import Update
from hyperkube.client.discovery import ApiResource, discover
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import with_condition
from hyperkube.kinds.pods import is_terminal
from hyperkube.kinds.resources import NAMESPACES, PODS
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, MethodNotAllowed, NotFound
from hyperkube.machinery.objects import Object, is_being_deleted, metadata, name_of
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import parse_time
from hyperkube.plugin import Plugin

FINALIZER = "kubernetes"
_INCOMPLETE = "unable to retrieve the complete list of server APIs"
RETRY = Backoff(initial=0.05, cap=5.0)


@dataclass(frozen=True, slots=True)
class Content:
    """What was found in a namespace.

    Attributes:
        remaining: resource (``pods.``, ``deployments.apps``) → how many objects are still there.
        finalizers: finalizer → how many objects wait for it.
        failures: what could not be deleted, as messages.
        undiscovered: group versions whose server did not answer.
    """

    remaining: Mapping[str, int] = field(default_factory=dict)
    finalizers: Mapping[str, int] = field(default_factory=dict)
    failures: Sequence[str] = ()
    undiscovered: Sequence[str] = ()

    @property
    def is_gone(self) -> bool:
        """Whether nothing is left, as far as all servers answered."""
        return not (self.remaining or self.failures or self.undiscovered)


def finalized(namespace: Object) -> Object:
    """Return the namespace without the finalizer of this controller."""
    left = [name for name in (namespace.get("spec") or {}).get("finalizers") or [] if name != FINALIZER]
    return {**namespace, "spec": {"finalizers": left}}


def decide(namespace: Object, content: Content, now: datetime) -> list[Update]:
    """Return the update that tells what a namespace that is being deleted waits for, or that it waits for nothing."""
    status = namespace.get("status") or {}
    conditions = list(status.get("conditions") or [])
    for wanted in _conditions(content):
        conditions = with_condition(conditions, wanted, now)
    told = {**status, "phase": "Terminating", "conditions": conditions}
    return [] if told == status else [Update(NAMESPACES, {**namespace, "status": told}, "status")]


def _conditions(content: Content) -> list[Object]:
    remaining = ", ".join(f"{name} has {count} resource instances" for name, count in sorted(content.remaining.items()))
    waiting = ", ".join(f"{name} in {count} resource instances" for name, count in sorted(content.finalizers.items()))
    undiscovered = ", ".join(f"{name}: stale GroupVersion discovery: {name}" for name in sorted(content.undiscovered))
    failures = ", ".join(sorted(content.failures))
    return [
        _condition(
            "NamespaceDeletionDiscoveryFailure",
            undiscovered
            and (
                "DiscoveryFailed",
                f"Discovery failed for some groups, {len(content.undiscovered)} failing: {_INCOMPLETE}: {undiscovered}",
            ),
            ("ResourcesDiscovered", "All resources successfully discovered"),
        ),
        _condition(
            "NamespaceDeletionGroupVersionParsingFailure",
            "",
            ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
        ),
        _condition(
            "NamespaceDeletionContentFailure",
            failures
            and (
                "ContentDeletionFailed",
                f"Failed to delete all resource types, {len(content.failures)} remaining: {failures}",
            ),
            ("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
        ),
        _condition(
            "NamespaceContentRemaining",
            remaining and ("SomeResourcesRemain", f"Some resources are remaining: {remaining}"),
            ("ContentRemoved", "All content successfully removed"),
        ),
        _condition(
            "NamespaceFinalizersRemaining",
            waiting and ("SomeFinalizersRemain", f"Some content in the namespace has finalizers remaining: {waiting}"),
            ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
        ),
    ]


def _condition(kind: str, bad: tuple[str, str] | str, good: tuple[str, str]) -> Object:
    reason, message = bad if isinstance(bad, tuple) else good
    status = "True" if isinstance(bad, tuple) else "False"
    return {"type": kind, "status": status, "reason": reason, "message": message}


def _is_expected(left: Sequence[Object], seconds: float) -> bool:
    """Tell whether there is a reason why objects are still there: a finalizer, or a pod's grace that has not passed.

    Args:
        left: the objects.
        seconds: for how long the namespace has been going.
    """
    graces = [(pod.get("spec") or {}).get("terminationGracePeriodSeconds") or 0 for pod in left if not is_terminal(pod)]
    return seconds < max(graces, default=0) or any(metadata(obj).get("finalizers") for obj in left)


class Settings(Record):
    """How many namespaces are synced at once."""

    concurrent_namespace_syncs: int = 10


class Namespace(Plugin):
    """Empties namespaces that are being deleted."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._namespaces = self.informers.informer(NAMESPACES)
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=self.settings(Settings).concurrent_namespace_syncs,
            backoff=RETRY,
        )
        self._namespaces.add_handler(self._seen, lambda _old, new: self._seen(new))
        return self._loop

    def _seen(self, namespace: Object) -> None:
        if is_being_deleted(namespace) and FINALIZER in ((namespace.get("spec") or {}).get("finalizers") or []):
            self._loop.enqueue(namespace)

    def _sync(self, key: str) -> None:
        try:
            namespace = self.client.get(NAMESPACES, key)  # a stale one would only bring conflicts
        except NotFound:
            return
        if not is_being_deleted(namespace):
            return
        content = self._empty(key, parse_time(metadata(namespace)["deletionTimestamp"]))
        for told in decide(namespace, content, self.context.clock.now()):
            namespace = self.client.update(told.resource, told.object, subresource=told.subresource)
        if not content.is_gone:
            raise NotYet(f"namespace {key!r} still has {dict(content.remaining)}")
        self.client.update(NAMESPACES, finalized(namespace), subresource="finalize")

    def _empty(self, namespace: str, deleted: datetime) -> Content:
        """Delete everything in the namespace and return what is still there; while pods are, only they are deleted.

        So what pods depend on to end well, or to be kept from the network, outlives them.
        """
        found = discover(self.client)
        deletable = [row for row in found.resources if row.namespaced and {"delete", "list"} <= row.verbs]
        pods = [row for row in deletable if row.gvr == PODS]
        content = self._empty_resources(pods, namespace, deleted, found.failed)
        if content.remaining or content.failures:
            return content
        return self._empty_resources([row for row in deletable if row.gvr != PODS], namespace, deleted, found.failed)

    def _empty_resources(
        self, rows: Sequence[ApiResource], namespace: str, deleted: datetime, undiscovered: Sequence[str]
    ) -> Content:
        remaining: dict[str, int] = {}
        finalizers: Counter[str] = Counter()
        failures: list[str] = []
        for row in rows:
            try:
                left = self._empty_resource(row, namespace)
            except (NotFound, MethodNotAllowed):  # its type went away meanwhile
                continue
            except ApiError as error:
                failures.append(str(error))
                continue
            if left:
                group_resource = row.gvr.group_resource
                remaining[f"{group_resource.resource}.{group_resource.group}"] = len(left)
                if not _is_expected(left, (self.context.clock.now() - deleted).total_seconds()):
                    gvr = f"{row.gvr.group}/{row.gvr.version}, Resource={row.gvr.resource}"
                    failures.append(f"unexpected items still remain in namespace: {namespace} for gvr: {gvr}")
            for obj in left:
                finalizers.update(metadata(obj).get("finalizers") or [])
        return Content(remaining, finalizers, failures, undiscovered)

    def _empty_resource(self, resource: ApiResource, namespace: str) -> list[Object]:
        listed = self.client.list(resource.gvr, namespace).items
        fresh = [obj for obj in listed if not is_being_deleted(obj)]
        if not fresh:
            return listed
        if "deletecollection" in resource.verbs:
            self.client.delete_collection(resource.gvr, namespace, options={"propagationPolicy": "Background"})
        else:
            for obj in fresh:
                self._delete(resource, obj, namespace)
        return self.client.list(resource.gvr, namespace).items

    def _delete(self, resource: ApiResource, obj: Object, namespace: str) -> None:
        try:
            self.client.delete(resource.gvr, name_of(obj), namespace, options={"propagationPolicy": "Background"})
        except NotFound:
            return  # gone by itself
