"""The addon manager: brings a cluster's addons into it and keeps them there.

An addon's objects are applied server-side with field manager ``addon-manager``. Their label
``addonmanager.kubernetes.io/mode`` decides what happens to an object that is there already: ``EnsureExists`` creates
it once and leaves it alone, anything else (``Reconcile``) applies it again once a minute. What an addon serves runs on
a thread of its own.

Source: kubernetes ``cluster/addons/addon-manager`` (kube-addons.sh).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from hyperkube.client.client import APPLY_PATCH, Client
from hyperkube.client.discovery import discover
from hyperkube.client.informer import InformerFactory
from hyperkube.client.worker_pool import WorkerPool
from hyperkube.hookspecs import addon
from hyperkube.hookspecs.addon import AddonHooks
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import AlreadyExists, ApiError, UsageError
from hyperkube.machinery.groups import GroupKind, GroupVersion, GroupVersionResource
from hyperkube.machinery.objects import Object, labels_of
from hyperkube.plugin import Plugin, PluginContext, PluginHost, load

FIELD_MANAGER = "addon-manager"
MODE_LABEL = "addonmanager.kubernetes.io/mode"
ENSURE_EXISTS = "EnsureExists"
PERIOD_SECONDS = 60.0
END_SECONDS = 5.0
_ALL = "all"

_log = logging.getLogger("hyperkube.addons")


class AddonManager:
    """Applies the objects of the enabled addons and runs what they serve, from `start` to `close`."""

    def __init__(
        self,
        names: Sequence[str],
        client: Client,
        clock: Clock,
        settings: Callable[[str], Mapping[str, Any]] = lambda _name: {},
    ) -> None:
        """Prepare; nothing is loaded yet.

        Args:
            names: the enabled addons, in the order in which they are applied.
            client: acts as the cluster's administrator.
            clock: the cluster's time.
            settings: an addon's settings, by its name.
        """
        self._names = names
        self._client = client
        self._clock = clock
        self._settings = settings
        self._informers = InformerFactory(client, clock)
        self._again: WorkerPool[str] | None = None
        self._threads: list[threading.Thread] = []
        self._host: PluginHost[AddonHooks] | None = None

    def start(self) -> None:
        """Load the addons, apply their objects, and start what they serve.

        Raises:
            UsageError: an addon is not installed or cannot be built.
            ApiError: the API refuses an object of an addon.
        """
        if not self._names:
            return
        self._host = load("addon", self._names, addon, self._context)
        self._host.start()
        self._informers.start()
        kept = [obj for plugin in self._host.plugins for obj in self._apply_all(_objects(plugin))]
        if kept:
            self._again = WorkerPool(
                "addon-manager", partial(self._reconcile, kept), clock=self._clock, workers=1, logger=_log
            )
            self._again.queue.add_after(_ALL, PERIOD_SECONDS)
            self._again.begin()
        for name, plugin in zip(self._host.names, self._host.plugins, strict=True):
            serve = getattr(plugin, "addon_start", None)
            if serve is not None:
                self._run(f"addon-{name}", serve)

    def notices(self) -> list[str]:
        """Return what the addons want to be told to the user, a line each."""
        said = self._host.hook.addon_notice() if self._host is not None else []
        return [line for line in said if line]

    def close(self) -> None:
        """End what the addons serve; their objects stay."""
        if self._again is not None:
            self._again.stop()
            self._again.wait_ended(END_SECONDS)
        if self._host is not None:
            self._host.close()
        self._informers.stop()
        for thread in self._threads:
            thread.join(END_SECONDS)
            if thread.is_alive():
                _log.warning("%s did not end within %d s", thread.name, END_SECONDS)

    def _context(self, name: str) -> PluginContext:
        return PluginContext(
            name=name,
            clock=self._clock,
            logger=_log.getChild(name),
            settings=self._settings(name),
            client=self._client,
            informers=self._informers,
        )

    def _run(self, name: str, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            except UsageError as error:  # a mistake of the user's: one line, and the cluster goes on without it
                _log.error("%s: %s", name, error)

        thread = threading.Thread(target=run, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _apply_all(self, objects: Sequence[Object]) -> list[Object]:
        """Apply an addon's objects; return those that are to be applied again."""
        for obj in objects:
            self._apply(obj)
        return [obj for obj in objects if not _is_created_once(obj)]

    def _apply(self, obj: Object) -> None:
        resource = self._resource_of(obj)
        metadata = obj["metadata"]
        namespace = metadata.get("namespace", "")
        if _is_created_once(obj):
            try:
                self._client.create(resource, obj, namespace, field_manager=FIELD_MANAGER)
            except AlreadyExists:
                _log.debug("%s %r exists already", obj["kind"], metadata["name"])
            return
        self._client.patch(
            resource,
            metadata["name"],
            obj,
            namespace,
            patch_type=APPLY_PATCH,
            field_manager=FIELD_MANAGER,
            force=True,
        )

    def _resource_of(self, obj: Object) -> GroupVersionResource:
        """Return where objects of its kind are; asked anew each time, as an addon may bring its own definitions."""
        version = GroupVersion.parse(obj["apiVersion"])
        wanted = GroupKind(version.group, obj["kind"])
        for found in discover(self._client).resources:
            if found.group_kind == wanted:
                return GroupVersionResource(version.group, version.version, found.gvr.resource)
        raise ApiError(f"no matches for kind {obj['kind']!r} in version {obj['apiVersion']!r}")

    def _reconcile(self, objects: Sequence[Object], key: str) -> None:
        for obj in objects:
            try:
                self._apply(obj)
            except (ApiError, OSError) as error:
                _log.warning("cannot apply %s %r: %s", obj["kind"], obj["metadata"]["name"], error)
        if self._again is not None:
            self._again.queue.add_after(key, PERIOD_SECONDS)


def _objects(plugin: Plugin) -> Sequence[Object]:
    consists_of = getattr(plugin, "addon_objects", None)
    return consists_of() if consists_of is not None else ()


def _is_created_once(obj: Object) -> bool:
    return labels_of(obj).get(MODE_LABEL) == ENSURE_EXISTS
