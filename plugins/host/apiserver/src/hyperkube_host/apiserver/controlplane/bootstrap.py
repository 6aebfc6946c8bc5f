"""What must exist before the first client can work: system namespaces, roles, the kubernetes Service, API services.

On the first start everything is written in a few transactions. On later ones it is compared in the background, and
what is equal is not written again.
Source: kubernetes ``pkg/controlplane`` (controllers of system objects) and
``plugin/pkg/auth/authorizer/rbac/bootstrappolicy``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence

from hyperkube_host.apiserver.controlplane.system_objects import SystemObjects
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import RequestInfo
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_host.apiserver.rest import stored
from hyperkube_host.apiserver.rest.create import prepare
from hyperkube_host.apiserver.rest.services import Services

from hyperkube.hookspecs.api import ApiHooks
from hyperkube.hookspecs.authz import AuthzHooks
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import HyperkubeError, StorageReadError
from hyperkube.machinery.groups import GroupVersion, GroupVersionKind
from hyperkube.machinery.objects import Object, annotations_of, copy_object, name_of, namespace_of
from hyperkube.machinery.users import LOOPBACK
from hyperkube.plugin import PluginHost
from hyperkube.storage.store import Compare, Put

_BATCH = 100
_AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"
_RBAC = "rbac.authorization.k8s.io"

Wanted = tuple[ServedResource, str, str, Object]


class Bootstrap:
    """Creates and reconciles the objects a cluster starts with."""

    def __init__(
        self,
        services: Services,
        api: PluginHost[ApiHooks],
        authz: PluginHost[AuthzHooks],
        options: Options,
        clock: Clock,
        logger: logging.Logger,
        *,
        done: bool = False,
    ) -> None:
        self._services = services
        self._hosts = (api.hook.api_bootstrap_objects, authz.hook.authz_bootstrap_objects)
        self._system = SystemObjects(services.registry, options, clock)
        self._logger = logger
        self._thread: threading.Thread | None = None
        self.done = done

    def run(self) -> None:
        """Create everything at once in an empty store; else compare it in the background, unless it is `done`."""
        if self.done:
            return
        namespaces = self._services.registry.any_version("", "namespaces")
        if namespaces is None or not self._is_stored(namespaces, "", "kube-system"):
            self._reconcile()
            return
        self._thread = threading.Thread(target=self._reconcile_safely, name="bootstrap", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Wait for the comparison to end."""
        if self._thread is not None:
            self._thread.join()

    def _is_stored(self, served: ServedResource, namespace: str, name: str) -> bool:
        return self._services.store.get(served.stored().key(namespace, name)) is not None

    def _reconcile_safely(self) -> None:
        try:
            self._reconcile()
        except HyperkubeError:
            self._logger.exception("the system objects could not be reconciled")

    def _reconcile(self) -> None:
        missing: list[Wanted] = []
        for wanted in self._located(self._all()):
            served, namespace, name, obj = wanted
            item = self._services.store.get(served.stored().key(namespace, name))
            if item is None:
                missing.append(wanted)
            elif served.kind.group == _RBAC:
                self._update_policy(served, namespace, name, obj)
            elif served.kind.kind == "Service":
                self._update_service(served, namespace, name, obj)
        for start in range(0, len(missing), _BATCH):
            self._create(missing[start : start + _BATCH])
        self.done = True

    def _all(self) -> Iterable[Object]:
        yield from self._system.objects()
        for hook in self._hosts:
            for objects in hook():
                yield from objects

    def _located(self, objects: Iterable[Object]) -> Iterable[Wanted]:
        seen: set[tuple[str, str, str]] = set()
        for obj in objects:
            served = resource_of(self._services.registry, obj)
            if served is None or served.storage is None:
                continue
            key = (served.storage.prefix, namespace_of(obj), name_of(obj))
            if key not in seen:
                seen.add(key)
                yield served, namespace_of(obj), name_of(obj), obj

    def _create(self, batch: Sequence[Wanted]) -> None:
        compares: list[Compare] = []
        puts: list[Put] = []
        for served, namespace, name, obj in batch:
            key = served.stored().key(namespace, name)
            compares.append(Compare(key, 0))
            puts.append(Put(key, stored.encode(served, self._complete(served, namespace, name, obj))))
        if self._services.store.txn(compares, puts).succeeded or len(batch) == 1:
            return
        for wanted in batch:  # another server was faster with some of them
            self._create([wanted])

    def _complete(self, served: ServedResource, namespace: str, name: str, obj: Object) -> Object:
        """Return the object as creation by a client would make it, with the status it was given."""
        target = Target(served, namespace, name)
        new, _ = served.codec.decode(copy_object(obj), report=False)
        new["kind"], new["apiVersion"] = served.kind.kind, served.kind.api_version
        served.codec.default(new)
        served.strategy.default(new)
        status = new.get("status")
        info = RequestInfo(path="", verb="create", is_resource=True)
        request = ApiRequest(method="POST", path="", info=info, user=LOOPBACK, inside=True)
        call = self._services.call(request, target, body=new)
        prepared = prepare(self._services, target, call, new)
        if status and obj.get("status"):
            prepared = served.codec.canonical({**prepared, "status": status})
            prepared["kind"], prepared["apiVersion"] = served.kind.kind, served.kind.api_version
        served.strategy.begin_create(call, prepared)
        return prepared

    def _update_policy(self, served: ServedResource, namespace: str, name: str, wanted: Object) -> None:
        """Add the rules or subjects that a stored policy object lacks, unless it asks to be left alone."""
        try:
            current = stored.read(self._services.store, served, namespace, name)
        except StorageReadError as error:  # it costs itself alone; once deleted, the next start makes it anew
            self._logger.error("the system object %s %r is left alone: %s", served.kind.kind, name, error.message)  # noqa: TRY400
            return
        if current is None or annotations_of(current.obj).get(_AUTO_UPDATE) == "false":
            return
        obj = copy_object(current.obj)
        if not _complete_lists(obj, wanted):
            return
        key = served.stored().key(namespace, name)
        self._services.store.txn([Compare(key, current.revision)], [Put(key, stored.encode(served, obj))])

    def _update_service(self, served: ServedResource, namespace: str, name: str, wanted: Object) -> None:
        """Let the Service have the type and the ports that this server was told, as every start of Kubernetes does."""
        current = stored.read(self._services.store, served, namespace, name)
        if current is None:
            return
        parts = {member: wanted["spec"][member] for member in ("type", "ports")}
        if all(current.obj["spec"].get(member) == value for member, value in parts.items()):
            return
        obj = copy_object(current.obj)
        obj["spec"] |= parts
        key = served.stored().key(namespace, name)
        self._services.store.txn([Compare(key, current.revision)], [Put(key, stored.encode(served, obj))])


def _complete_lists(obj: Object, wanted: Object) -> bool:
    changed = False
    for member in ("rules", "subjects"):
        if obj.get("aggregationRule") and member == "rules":
            continue
        missing = [item for item in wanted.get(member) or [] if item not in (obj.get(member) or [])]
        if missing:
            obj[member] = [*(obj.get(member) or []), *missing]
            changed = True
    return changed


def resource_of(registry: Registry, obj: Object) -> ServedResource | None:
    """Return the resource that serves an object's kind."""
    version = GroupVersion.parse(obj["apiVersion"])
    return registry.by_kind(GroupVersionKind(version.group, version.version, obj["kind"]))
