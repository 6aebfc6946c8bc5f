"""Follows FlowSchemas and PriorityLevelConfigurations: puts them in force, keeps those that must be, tells of gaps.

Source: kubernetes apiserver ``pkg/util/flowcontrol/apf_controller.go``,
``pkg/registry/flowcontrol/{ensurer,rest}`` of kubernetes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from hyperkube_host.apiserver.flowcontrol import mandatory
from hyperkube_host.apiserver.flowcontrol.flow_control import FlowControl
from hyperkube_host.apiserver.resources.registry import Registry

from hyperkube.client.client import Client
from hyperkube.client.informer import InformerFactory
from hyperkube.client.reflector import Informer
from hyperkube.client.worker_pool import WorkerPool
from hyperkube.kinds.resources import FLOW_SCHEMAS, PRIORITY_LEVEL_CONFIGURATIONS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import AlreadyExists, ApiError, Conflict, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, annotations_of, copy_object, name_of
from hyperkube.machinery.times import format_time

AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec"
ENSURE_SECONDS = 60.0
_ALL = "all"
_MANDATORY = frozenset((mandatory.EXEMPT, mandatory.CATCH_ALL))
_KINDS = {"FlowSchema": FLOW_SCHEMAS, "PriorityLevelConfiguration": PRIORITY_LEVEL_CONFIGURATIONS}


class FlowConfiguration:
    """Looks at each change, and once a minute after the objects a server begins with.

    Args:
        wanted: returns the objects that a cluster begins with, of any kind.
    """

    def __init__(
        self,
        control: FlowControl,
        registry: Registry,
        informers: InformerFactory,
        client: Client,
        wanted: Callable[[], Iterable[Object]],
        clock: Clock,
        logger: logging.Logger,
    ) -> None:
        self._control = control
        self._client = client
        self._wanted = wanted
        self._clock = clock
        self._logger = logger
        self._pool = WorkerPool("flow-control", self._work, clock=clock, workers=1, logger=logger)
        self._ensured: float | None = None
        self._whole = False
        self._informers: Mapping[GroupVersionResource, Informer] = {}
        if all(registry.find(resource) is not None for resource in _KINDS.values()):
            self._informers = {resource: informers.informer(resource) for resource in _KINDS.values()}
        for informer in self._informers.values():
            informer.add_handler(self._changed, lambda _old, new: self._changed(new), self._changed)
            informer.when_synced(self._look_soon)

    def start(self) -> None:
        """Begin; without the API group the objects that must be are in force, and nothing is followed."""
        if not self._informers:
            return
        self._pool.begin()

    def close(self) -> None:
        """End; idempotent."""
        self._pool.stop()
        self._pool.wait_ended()

    def synced(self) -> bool:
        """Tell whether the stored objects are in force, among them all that a cluster begins with."""
        return self._whole or not self._informers

    def _changed(self, _obj: Object) -> None:
        self._look_soon()

    def _look_soon(self) -> None:
        self._pool.queue.add(_ALL)

    def _work(self, key: str) -> None:
        if not all(informer.has_synced() for informer in self._informers.values()):
            return  # the last of them wakes this
        try:
            whole = self._whole or self._has_all()
            self._put_in_force()
            self._whole = whole
            now = self._clock.monotonic()
            if self._ensured is None or now - self._ensured >= ENSURE_SECONDS:
                self._ensured = now
                self._ensure()
        except ApiError as error:
            self._logger.warning("priority and fairness: %s", error)
        self._pool.queue.add_after(key, ENSURE_SECONDS)

    def _has_all(self) -> bool:
        """Tell whether all objects that a cluster begins with are known."""
        kinds = ((_KINDS.get(obj.get("kind", "")), name_of(obj)) for obj in self._wanted())
        return all(
            self._informers[resource].get("", name) is not None for resource, name in kinds if resource is not None
        )

    def _put_in_force(self) -> None:
        schemas = list(self._informers[FLOW_SCHEMAS].list())
        levels = list(self._informers[PRIORITY_LEVEL_CONFIGURATIONS].list())
        self._control.configure(schemas, levels)
        names = {name_of(level) for level in levels}
        for schema in schemas:
            self._tell(schema, names)

    def _tell(self, schema: Object, levels: set[str]) -> None:
        """Say in a schema's status whether its level is there."""
        level = schema["spec"]["priorityLevelConfiguration"]["name"]
        status = "False" if level in levels else "True"
        conditions = (schema.get("status") or {}).get("conditions") or []
        known = next((one for one in conditions if one.get("type") == "Dangling"), None)
        if known is not None and known.get("status") == status:
            return
        found = "and it exists" if level in levels else "but there is no such object"
        condition = {
            "type": "Dangling",
            "status": status,
            "lastTransitionTime": format_time(self._clock.now()),
            "reason": "Found" if level in levels else "NotFound",
            "message": f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" {found}',
        }
        others = [one for one in conditions if one.get("type") != "Dangling"]
        changed = {**copy_object(schema), "status": {"conditions": [*others, condition]}}
        try:
            self._client.update(FLOW_SCHEMAS, changed, subresource="status")
        except (NotFound, Conflict):
            return  # a newer version is on its way and wakes us

    def _ensure(self) -> None:
        """Create what is missing of the objects a cluster begins with, and bring the others up to date."""
        for obj in self._wanted():
            resource = _KINDS.get(obj.get("kind", ""))
            if resource is None:
                continue
            current = self._informers[resource].get("", name_of(obj))
            if current is None:
                self._create(resource, obj)
            elif wants_update(current) and (spec := merged_spec(current, obj)) != current.get("spec"):
                self._update(resource, {**copy_object(current), "spec": spec})

    def _create(self, resource: GroupVersionResource, obj: Object) -> None:
        try:
            self._client.create(resource, copy_object(obj))
        except AlreadyExists:
            return

    def _update(self, resource: GroupVersionResource, changed: Object) -> None:
        try:
            self._client.update(resource, changed)
        except (NotFound, Conflict):
            return


def wants_update(current: Object) -> bool:
    """Tell whether the server keeps an object's spec: always if it is mandatory, else by annotation and generation."""
    if name_of(current) in _MANDATORY:
        return True
    asked = annotations_of(current).get(AUTO_UPDATE)
    if asked is None:
        return bool(current["metadata"].get("generation") == 1)
    return asked == "true"


def merged_spec(current: Object, wanted: Object) -> Object:
    """Return the spec an object should have; the seats of the exempt level are its administrator's business."""
    spec: Object = {**wanted["spec"]}
    if wanted.get("kind") == "PriorityLevelConfiguration" and name_of(wanted) == mandatory.EXEMPT:
        spec["exempt"] = (current.get("spec") or {}).get("exempt") or spec.get("exempt")
    return spec
