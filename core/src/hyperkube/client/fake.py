"""FakeClient: the in-memory twin of the API server, for tests of controllers, the scheduler and the kubelet.

It keeps the promises that loops lean on: resource versions and conflicts, uids, generated names, generations, a
status that only its subresource changes, deletion that waits for finalizers and, for a pod on a node, for the
kubelet; selectors; watches from any version. It validates and defaults nothing.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping
from random import Random

from hyperkube.client.client import JSON_PATCH, MERGE_PATCH, ObjectList, PatchBody, RawResponse, Watch, WatchEvent
from hyperkube.client.fake_watch import FakeWatch, JournalEntry, matcher
from hyperkube.kinds.pods import is_terminal
from hyperkube.machinery import random
from hyperkube.machinery.clock import Clock, FakeClock
from hyperkube.machinery.errors import AlreadyExists, BadRequest, Conflict, Expired, NotFound, UnsupportedMediaType
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, copy_object, key_of, metadata, name_of, namespace_of
from hyperkube.machinery.patch.json_patch import apply_json_patch
from hyperkube.machinery.patch.merge import apply_merge_patch
from hyperkube.machinery.times import format_time

_FIRST_PHASE = {"pods": "Pending", "namespaces": "Active"}
_UNCOUNTED = {"metadata", "status"}
_DEFAULT_GRACE = 30


def _path(namespace: str, name: str, subresource: str) -> str:
    return "/".join(part for part in (namespace, name, subresource) if part)


def _beside_status(old: Object, new: Object) -> Object:
    """Return the metadata after a write to a status: deployments get their revision, services lose finalizers so."""
    written: Object = {part: metadata(new)[part] for part in ("annotations", "finalizers") if part in metadata(new)}
    return {**metadata(old), **written}


class FakeClient:
    """An API server's worth of objects in a dict; implements `hyperkube.client.client.Client`.

    Attributes:
        actions: what was asked, in order, as ``(verb, resource, namespace/name[/subresource])``; reads are left out.
        journal: every change as (resource, event), guarded by `condition`.
        condition: notified at each change.
    """

    def __init__(self, clock: Clock | None = None, *, seed: int = 1) -> None:
        self.clock = clock or FakeClock()
        self.condition = threading.Condition(threading.RLock())
        self.journal: list[JournalEntry] = []
        self.actions: list[tuple[str, str, str]] = []
        self._objects: dict[GroupVersionResource, dict[str, Object]] = {}
        self._versions: list[int] = []
        self._version = 0
        self._oldest = 0
        self._random = Random(seed)  # noqa: S311  names of test objects, reproducible
        self._failures: list[tuple[str, str, Exception]] = []
        self._answers: dict[tuple[str, str], Callable[[bytes], RawResponse]] = {}

    def seed(self, resource: GroupVersionResource, *objects: Object) -> list[Object]:
        """Put objects into the world as they are, status included; return them as stored."""
        return [self._insert(resource, copy_object(obj)) for obj in objects]

    def inherit(self, other: FakeClient) -> None:
        """Show the same world as another fake, as a process sees it that starts later."""
        self._objects = other._objects
        self._answers = other._answers
        self._version = self._oldest = other._version

    def everything(self) -> dict[GroupVersionResource, list[Object]]:
        """Return copies of all objects by resource."""
        return {resource: self.objects(resource) for resource in [*self._objects]}

    def fail_next(self, verb: str, resource: str, error: Exception) -> None:
        """Raise `error` at the next call of this verb (create, update, patch, delete…) on this resource."""
        self._failures.append((verb, resource, error))

    def answer(self, method: str, path: str, call: Callable[[bytes], RawResponse]) -> None:
        """Answer raw requests to `path` by `call(body)`."""
        self._answers[method, path] = call

    def objects(self, resource: GroupVersionResource, namespace: str = "") -> list[Object]:
        """Return copies of the objects that are there, oldest first."""
        return self.list(resource, namespace).items

    def get(
        self,
        resource: GroupVersionResource,
        name: str,
        namespace: str = "",
        *,
        subresource: str = "",
        resource_version: str = "",
    ) -> Object:
        """Return one object."""
        del subresource, resource_version
        self._maybe_fail("get", resource)
        with self.condition:
            return copy_object(self._held(resource, namespace, name))

    def list(
        self,
        resource: GroupVersionResource,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        resource_version: str = "",
        limit: int = 0,
        continue_token: str = "",
    ) -> ObjectList:
        """Return the objects that match, in pages when `limit` is given."""
        del resource_version
        self._maybe_fail("list", resource)
        matches = matcher(namespace, label_selector, field_selector)
        with self.condition:
            found = [obj for obj in self._objects.get(resource, {}).values() if matches(obj)]
            start = int(continue_token or 0)
            page = found[start : start + limit] if limit else found[start:]
            left = len(found) - start - len(page)
            return ObjectList(
                [copy_object(obj) for obj in page],
                str(self._version),
                str(start + len(page)) if left else "",
                left or None,
            )

    def watch(
        self,
        resource: GroupVersionResource,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        resource_version: str = "",
        bookmarks: bool = True,
        timeout_seconds: int | None = None,
    ) -> Watch:
        """Watch from a version on; an object that starts or stops to match is added or deleted."""
        del bookmarks, timeout_seconds
        self._maybe_fail("watch", resource)
        matches = matcher(namespace, label_selector, field_selector)
        with self.condition:
            start = int(resource_version or self._version)
            if start < self._oldest:
                raise Expired(f"too old resource version: {start} ({self._oldest})")
            position = bisect_right(self._versions, start)
            return FakeWatch(self.condition, self.journal, position, resource, matches)

    def compact(self) -> None:
        """Forget history: a watch from before now is answered by 410."""
        with self.condition:
            self._oldest = self._version

    def create(
        self,
        resource: GroupVersionResource,
        obj: Object,
        namespace: str = "",
        *,
        name: str = "",
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
    ) -> Object:
        """Create an object, bind or evict a pod, or issue a token."""
        del field_manager
        new = copy_object(obj)
        meta = new.setdefault("metadata", {})
        if subresource:
            self._maybe_fail("create", resource, f"{namespace}/{name}/{subresource}")
            return self._create_subresource(resource, new, namespace, name, subresource)
        if namespace:
            meta["namespace"] = namespace
        if not meta.get("name"):
            if not meta.get("generateName"):
                raise BadRequest("name or generateName is required")
            meta["name"] = random.generate_name(self._random, meta["generateName"])
        self._maybe_fail("create", resource, key_of(new))
        new.pop("status", None)
        if resource.resource in _FIRST_PHASE and not resource.group:
            new["status"] = {"phase": _FIRST_PHASE[resource.resource]}
        return new if dry_run else self._insert(resource, new)

    def update(
        self,
        resource: GroupVersionResource,
        obj: Object,
        namespace: str = "",
        *,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
    ) -> Object:
        """Replace an object; with ``status`` only its status, with ``finalize`` its ``spec.finalizers``."""
        del field_manager
        new = copy_object(obj)
        namespace = namespace or namespace_of(new)
        name = name_of(new)
        self._maybe_fail("update", resource, _path(namespace, name, subresource))
        with self.condition:
            old = self._held(resource, namespace, name)
            wanted_version = metadata(new).get("resourceVersion")
            if wanted_version and wanted_version != metadata(old)["resourceVersion"]:
                raise Conflict.about(resource.group_resource, name)
            return self._replace(resource, old, new, subresource, dry_run=dry_run)

    def patch(
        self,
        resource: GroupVersionResource,
        name: str,
        patch: PatchBody,
        namespace: str = "",
        *,
        patch_type: str = MERGE_PATCH,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        force: bool = False,
    ) -> Object:
        """Change part of an object by a merge or JSON patch; applying with force is merging here."""
        del field_manager
        self._maybe_fail("patch", resource, _path(namespace, name, subresource))
        with self.condition:
            old = self._held(resource, namespace, name)
            if patch_type == MERGE_PATCH or force:
                new: Object = apply_merge_patch(copy_object(old), patch)
            elif patch_type == JSON_PATCH:
                new = apply_json_patch(copy_object(old), patch)
            else:
                raise UnsupportedMediaType(f"the fake has no schemas to apply {patch_type!r} with")
            if metadata(new).get("resourceVersion") != metadata(old)["resourceVersion"]:
                raise Conflict.about(resource.group_resource, name)
            return self._replace(resource, old, new, subresource, dry_run=dry_run)

    def delete(
        self, resource: GroupVersionResource, name: str, namespace: str = "", *, options: Object | None = None
    ) -> Object:
        """Delete an object, or mark it as being deleted while finalizers or a kubelet hold it."""
        options = options or {}
        self._maybe_fail("delete", resource, f"{namespace}/{name}" if namespace else name)
        with self.condition:
            old = self._held(resource, namespace, name)
            for fact, wanted in (options.get("preconditions") or {}).items():
                if metadata(old).get(fact) != wanted:
                    why = f"the {fact} in the precondition ({wanted}) does not match"
                    raise Conflict.about(resource.group_resource, name, why)
            new = copy_object(old)
            grace = self._grace(resource, new, options)
            policy = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}.get(options.get("propagationPolicy", ""))
            if policy and policy not in metadata(new).setdefault("finalizers", []):
                new["metadata"]["finalizers"].append(policy)
            held_back = metadata(new).get("finalizers") or (new.get("spec") or {}).get("finalizers")
            if not held_back and not grace:
                return self._remove(resource, old)
            if not metadata(new).get("deletionTimestamp"):
                new["metadata"]["deletionTimestamp"] = format_time(self.clock.now())
                new["metadata"]["deletionGracePeriodSeconds"] = grace
                if resource.resource == "namespaces":
                    new["status"] = {**(new.get("status") or {}), "phase": "Terminating"}
            return copy_object(self._store(resource, new, "MODIFIED"))

    def delete_collection(
        self,
        resource: GroupVersionResource,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        options: Object | None = None,
    ) -> None:
        """Delete all objects that match, one by one."""
        found = self.list(resource, namespace, label_selector=label_selector, field_selector=field_selector)
        for obj in found.items:
            self.delete(resource, name_of(obj), namespace_of(obj), options=options)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> RawResponse:
        """Answer as prepared by `answer`; anything else is 404."""
        del query, headers
        call = self._answers.get((method, path))
        return call(body) if call else RawResponse(404, {}, b"404 page not found\n")

    def _maybe_fail(self, verb: str, resource: GroupVersionResource, path: str = "") -> None:
        if path:
            self.actions.append((verb, resource.resource, path))
        for index, (failing, name, error) in enumerate(self._failures):
            if failing == verb and name == resource.resource:
                del self._failures[index]
                raise error

    def _held(self, resource: GroupVersionResource, namespace: str, name: str) -> Object:
        held = self._objects.get(resource, {}).get(f"{namespace}/{name}" if namespace else name)
        if held is None:
            raise NotFound.about(resource.group_resource, name)
        return held

    def _insert(self, resource: GroupVersionResource, new: Object) -> Object:
        meta = new.setdefault("metadata", {})
        with self.condition:
            if key_of(new) in self._objects.get(resource, {}):
                raise AlreadyExists.about(resource.group_resource, name_of(new))
            meta.setdefault("uid", f"uid-{self._version + 1}")
            meta.setdefault("creationTimestamp", format_time(self.clock.now()))
            meta.setdefault("generation", 1)
            if resource.resource == "namespaces":
                new.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])
            return copy_object(self._store(resource, new, "ADDED"))

    def _replace(
        self, resource: GroupVersionResource, old: Object, new: Object, subresource: str, *, dry_run: bool
    ) -> Object:
        if subresource in {"status", "approval"}:
            new = {**copy_object(old), "metadata": _beside_status(old, new), "status": new.get("status") or {}}
        elif subresource == "finalize":
            spec = {**(old.get("spec") or {}), "finalizers": (new.get("spec") or {}).get("finalizers") or []}
            new = {**copy_object(old), "spec": spec}
        elif "status" in old:
            new["status"] = old["status"]
        else:
            new.pop("status", None)
        for fixed in ("uid", "creationTimestamp", "deletionTimestamp", "generation", "resourceVersion"):
            if fixed in metadata(old):
                new["metadata"][fixed] = metadata(old)[fixed]
        if new == old or dry_run:
            return copy_object(new)
        if any(new.get(part) != old.get(part) for part in {*new, *old} - _UNCOUNTED):
            new["metadata"]["generation"] = metadata(old).get("generation", 1) + 1
        deleting = metadata(new).get("deletionTimestamp") and not metadata(new).get("deletionGracePeriodSeconds")
        if deleting and not metadata(new).get("finalizers") and not (new.get("spec") or {}).get("finalizers"):
            return self._remove(resource, new)
        return copy_object(self._store(resource, new, "MODIFIED"))

    def _store(self, resource: GroupVersionResource, new: Object, change: str) -> Object:
        self._version += 1
        new["metadata"]["resourceVersion"] = str(self._version)
        self._objects.setdefault(resource, {})[key_of(new)] = new
        self._note(resource, WatchEvent("ADDED" if change == "ADDED" else "MODIFIED", copy_object(new)))
        return new

    def _remove(self, resource: GroupVersionResource, old: Object) -> Object:
        del self._objects[resource][key_of(old)]
        self._version += 1
        gone = copy_object(old)
        gone["metadata"]["resourceVersion"] = str(self._version)
        self._note(resource, WatchEvent("DELETED", gone))
        return copy_object(gone)

    def _note(self, resource: GroupVersionResource, event: WatchEvent) -> None:
        self.journal.append((resource, event))
        self._versions.append(self._version)
        self.condition.notify_all()

    def _grace(self, resource: GroupVersionResource, pod: Object, options: Object) -> int:
        """Return the seconds that a kubelet has to end a pod; 0 for anything that goes at once."""
        spec = pod.get("spec") or {}
        if resource.resource != "pods" or resource.group or not spec.get("nodeName"):
            return 0
        if is_terminal(pod):
            return 0
        grace = options.get("gracePeriodSeconds")
        return int(spec.get("terminationGracePeriodSeconds", _DEFAULT_GRACE) if grace is None else grace)

    def _create_subresource(
        self, resource: GroupVersionResource, new: Object, namespace: str, name: str, subresource: str
    ) -> Object:
        with self.condition:
            old = self._held(resource, namespace, name)
            if subresource == "binding":
                pod = copy_object(old)
                if pod.setdefault("spec", {}).get("nodeName"):
                    why = f"pod {name} is already assigned to node {pod['spec']['nodeName']!r}"
                    raise Conflict.about(resource.group_resource, name, why)
                pod["spec"]["nodeName"] = new["target"]["name"]
                self._store(resource, pod, "MODIFIED")
            elif subresource == "eviction":
                self.delete(resource, name, namespace, options=new.get("deleteOptions"))
            elif subresource == "token":
                new["status"] = {"token": f"token-of-{namespace}-{name}"}
                return new
            else:
                raise NotFound(f"the fake has no subresource {subresource!r}")
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
