"""ResourceQuota: what is created is charged to the quotas of its namespace before it exists.

The charge is a compare-and-swap on the quota's status, so that two writers cannot both get the last piece. It is given
back when the write fails after all; what is deleted, the quota controller counts again.
Source: kubernetes apiserver ``pkg/admission/plugin/resourcequota/controller.go``.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from functools import partial

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.resource_lists import ResourceList, add, exceeded, mask, read, show, show_names, subtract, write
from hyperkube.kinds.resources import RESOURCE_QUOTAS
from hyperkube.machinery.errors import ApiError, Conflict, Forbidden, NotFound
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.objects import Object, name_of, resource_version_of
from hyperkube.plugin import Plugin, PluginContext

_ATTEMPTS = 4
_IGNORED_GROUPS = frozenset({"authentication.k8s.io", "authorization.k8s.io", "events.k8s.io"})
_IGNORED = frozenset({GroupResource("", name) for name in ("bindings", "componentstatuses", "events", "namespaces")})


def _status(quota: Object, which: str) -> ResourceList:
    return read((quota.get("status") or {}).get(which))


def delta_of(request: AdmissionRequest, quota: Object, used: ResourceList, before: ResourceList) -> ResourceList:
    """Return what a quota is to be charged: on an update the difference, if it counted the old object too."""
    from hyperkube_lib.quota import applies

    old = request.old_object
    if request.operation == "UPDATE" and old is not None and resource_version_of(old):
        if applies(quota, request.resource.group_resource, old):
            used = subtract(used, before)
        if request.subresource != "status":
            used = {name: quantity for name, quantity in used.items() if quantity.sign > 0}
    return {name: quantity for name, quantity in mask(used, _status(quota, "hard")).items() if quantity}


def check(quota: Object, delta: ResourceList) -> ResourceList:
    """Return the usage with the charge added.

    Raises:
        Forbidden: the quota does not allow so much.
    """
    hard, before = _status(quota, "hard"), _status(quota, "used")
    after = dict(before)
    add(after, delta)
    over = exceeded(mask(after, delta), hard)
    if over:
        shown = [show(mask(part, over)) for part in (delta, before, hard)]
        raise Forbidden(
            f"exceeded quota: {name_of(quota)}, requested: {shown[0]}, used: {shown[1]}, limited: {shown[2]}"
        )
    return after


class ResourceQuota(Plugin):
    """Checks writes against the quotas of their namespace and charges them."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._quotas = self.informers.informer(RESOURCE_QUOTAS)
        self._locks: dict[str, threading.Lock] = defaultdict(threading.Lock)

    def is_idle(self, request: AdmissionRequest) -> bool:
        """Tell whether there is no quota to charge."""
        return not request.namespace or not len(self._quotas) or not self._quotas.list(request.namespace)

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Charge the object to every quota that counts it."""
        resource = request.resource.group_resource
        if not request.namespace or request.object is None or resource in _IGNORED or resource.group in _IGNORED_GROUPS:
            return
        if not self._quotas.list(request.namespace):
            return
        from hyperkube_lib.quota import is_charged

        written = {"old": request.old_object, "new": request.object}
        if not is_charged(resource, request.operation, request.subresource, **written):
            return
        with self._locks[request.namespace]:  # one at a time here, so that only other servers are in the way
            self._charge(request, resource)

    def _charge(self, request: AdmissionRequest, resource: GroupResource) -> None:
        from hyperkube_lib.quota import usage

        now = self.context.clock.now()
        used = usage(resource, request.written(), now)
        negative = [name for name, quantity in used.items() if quantity.sign < 0]
        if negative:
            raise Forbidden(f"quota usage is negative for resource(s): {show_names(negative)}")
        before = usage(resource, request.old_object, now) if request.old_object else {}
        for quota in self._pertinent(request, resource):
            delta = delta_of(request, quota, used, before)
            if not delta:
                continue
            if request.dry_run:
                check(quota, delta)
            else:
                self._add(quota, request.namespace, delta)
                request.on_failure.append(partial(self._give_back, name_of(quota), request.namespace, delta))

    def _pertinent(self, request: AdmissionRequest, resource: GroupResource) -> list[Object]:
        """Return the quotas, as stored now, that count the object.

        Raises:
            Forbidden: the object does not say what a quota limits, or the quota's usage is not known yet.
        """
        from hyperkube_lib.quota import applies, lacking, relevant

        quotas = self.client.list(RESOURCE_QUOTAS, request.namespace).items
        found = []
        for quota in sorted(quotas, key=name_of):
            if not applies(quota, resource, request.written()):
                continue
            counted = relevant(resource, _status(quota, "hard"))
            missing = lacking(resource, request.written(), counted)
            if missing:
                raise Forbidden(f"failed quota: {name_of(quota)}: {missing}")
            if any(name not in _status(quota, "used") for name in counted):
                raise Forbidden(f"status unknown for quota: {name_of(quota)}, resources: {show_names(counted)}")
            found.append(quota)
        return found

    def _add(self, quota: Object, namespace: str, delta: ResourceList) -> None:
        """Add to the usage in the quota's status, again on newer versions while others are faster.

        Raises:
            Forbidden: the quota does not allow so much.
            Conflict: others were faster every time.
        """
        for attempt in range(_ATTEMPTS):
            status = {**(quota.get("status") or {}), "used": write(check(quota, delta))}
            try:
                self.client.update(RESOURCE_QUOTAS, {**quota, "status": status}, namespace, subresource="status")
            except Conflict:
                if attempt == _ATTEMPTS - 1:
                    raise
                quota = self.client.get(RESOURCE_QUOTAS, name_of(quota), namespace)
            else:
                return

    def _give_back(self, name: str, namespace: str, delta: ResourceList) -> None:
        """Take a charge off again; a failure is left for the controller's next full count."""
        try:
            for _ in range(_ATTEMPTS):
                quota = self.client.get(RESOURCE_QUOTAS, name, namespace)
                used = subtract(_status(quota, "used"), delta)
                status = {**(quota.get("status") or {}), "used": write(used)}
                try:
                    self.client.update(RESOURCE_QUOTAS, {**quota, "status": status}, namespace, subresource="status")
                except Conflict:
                    continue
                return
        except NotFound:
            return
        except ApiError as error:
            self.context.logger.warning(
                "charge %s of quota %s/%s not given back: %s", show(delta), namespace, name, error
            )
