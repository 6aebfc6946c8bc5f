"""resourcequota: what a namespace uses of its quotas, counted anew when something was deleted or has ended.

Admission charges what is created; this controller sees what is given back, and fills in a new quota's usage. What an
object uses is in `hyperkube_lib.quota`, which both share.
Source: kubernetes ``pkg/controller/resourcequota``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial

from hyperkube.client.actions import Action, Update, perform
from hyperkube.client.discovery import discover
from hyperkube.client.informer import Informer
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds import resource_lists
from hyperkube.kinds.resources import (
    CONFIG_MAPS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    REPLICATION_CONTROLLERS,
    RESOURCE_CLAIMS,
    RESOURCE_QUOTAS,
    SECRETS,
    SERVICES,
)
from hyperkube.machinery.groups import GroupResource, GroupVersionResource
from hyperkube.machinery.objects import Object, metadata, namespace_of, split_key
from hyperkube.machinery.quantity import Quantity
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

_WHOLE = (PODS, SERVICES, PERSISTENT_VOLUME_CLAIMS, RESOURCE_CLAIMS)
_BARE = (CONFIG_MAPS, SECRETS, REPLICATION_CONTROLLERS, RESOURCE_QUOTAS)
_KNOWN = {resource.group_resource: resource for resource in (*_WHOLE, *_BARE)}
CHECK_SECONDS = 5.0


def metadata_only(obj: Object) -> Object:
    """Keep of an object that is only counted its name."""
    meta = metadata(obj)
    kept = {key: meta[key] for key in ("name", "namespace", "uid", "resourceVersion") if key in meta}
    return {"kind": obj.get("kind", ""), "apiVersion": obj.get("apiVersion", ""), "metadata": kept}


def decide(quota: Object, objects: Mapping[GroupResource, Iterable[Object]], now: datetime) -> list[Action]:
    """Return the update that makes the quota's status say what is used.

    Args:
        quota: the quota.
        objects: its namespace's objects of every resource that it may count.
        now: tells which pods have outlived their deletion.
    """
    hard: dict[str, str] = (quota.get("spec") or {}).get("hard") or {}
    used: resource_lists.ResourceList = {name: Quantity(0) for name in hard}
    for resource, listed in objects.items():
        for obj in listed:
            resource_lists.add(used, share(quota, resource, obj, now))
    status = {"hard": hard, "used": resource_lists.write(used)}
    if not hard:
        status = {}
    if status == (quota.get("status") or {}):
        return []
    return [Update(RESOURCE_QUOTAS, {**quota, "status": status}, "status")]


def share(quota: Object, resource: GroupResource, obj: Object, now: datetime) -> resource_lists.ResourceList:
    """Return what an object uses of a quota: nothing if the quota does not apply to it."""
    from hyperkube_lib import quota as quotas

    hard: dict[str, str] = (quota.get("spec") or {}).get("hard") or {}
    if not quotas.applies({**quota, "status": {"hard": hard}}, resource, obj):
        return {}
    return resource_lists.mask(quotas.usage(resource, obj, now), hard)


def counted(hard: Iterable[str]) -> set[GroupResource]:
    """Return the resources whose objects a quota's names may count."""
    from hyperkube_lib import quota as quotas

    names = list(hard)
    found = {resource for resource in _KNOWN if quotas.relevant(resource, names)}
    for name in names:
        if name.startswith("count/"):
            resource, _, group = name.removeprefix("count/").partition(".")
            found.add(GroupResource(group, resource))
    return found


class Settings(Record):
    """How many quotas are synced at once, and after how many seconds each is counted anew though nothing happened."""

    concurrent_resource_quota_syncs: int = 5
    resource_quota_sync_period: float = 300.0


class Resourcequota(Plugin):
    """Keeps ``status.used`` of every quota true; watches only what some quota counts."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._lock = threading.Lock()
        self._counters: dict[GroupResource, Informer] = {}
        self._quotas = self.informers.informer(RESOURCE_QUOTAS)
        settings = self.settings(Settings)
        self._resync = settings.resource_quota_sync_period
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=settings.concurrent_resource_quota_syncs,
        )
        self._quotas.add_handler(self._loop.enqueue, self._quota_changed)
        return self._loop

    def _quota_changed(self, old: Object, new: Object) -> None:
        if (old.get("spec") or {}) != (new.get("spec") or {}):
            self._loop.enqueue(new)

    def _sync(self, key: str) -> float | None:
        quota = self._quotas.get(*split_key(key))
        if quota is None:
            return None
        namespace = namespace_of(quota)
        asked = {name: self._counter(name) for name in counted((quota.get("spec") or {}).get("hard") or {})}
        counters = {name: counter for name, counter in asked.items() if counter is not None}  # others have no objects
        if not all(counter.has_synced() for counter in counters.values()):
            raise NotYet(f"what quota {key!r} counts is not listed yet")
        objects = {name: counter.list(namespace) for name, counter in counters.items()}
        actions = decide(quota, objects, self.context.clock.now())
        perform(self.client, None, actions)
        # An object that admission has charged just now may not be in the cache yet: what was written says too little
        # then, and no event would tell.
        return CHECK_SECONDS if actions else self._resync

    def _counter(self, resource: GroupResource) -> Informer | None:
        """Return the informer by which objects of a resource are counted; None for one that is not served."""
        with self._lock:
            if resource in self._counters:
                return self._counters[resource]
            addressed = _KNOWN.get(resource) or self._find(resource)
            if addressed is None:
                return None
            if addressed in _WHOLE:
                informer = self.informers.informer(addressed)
            else:
                found = self.informers.find(addressed)
                informer = found or self.informers.informer(addressed, project=metadata_only)
            self._counters[resource] = informer
        informer.add_handler(on_delete=self._object_deleted)
        if addressed in _WHOLE:
            informer.add_handler(on_update=partial(self._object_changed, resource))
        return informer

    def _find(self, resource: GroupResource) -> GroupVersionResource | None:
        for row in discover(self.client).resources:
            if row.gvr.group_resource == resource and row.namespaced and {"list", "watch"} <= row.verbs:
                return row.gvr
        return None

    def _object_changed(self, resource: GroupResource, old: Object, new: Object) -> None:
        """Count anew where an object uses another share than before: a pod that ended, a claim of another class."""
        now = self.context.clock.now()
        for quota in self._quotas.list(namespace_of(new)):
            if share(quota, resource, old, now) != share(quota, resource, new, now):
                self._loop.enqueue(quota)

    def _object_deleted(self, obj: Object) -> None:
        for quota in self._quotas.list(namespace_of(obj)):
            self._loop.enqueue(quota)
