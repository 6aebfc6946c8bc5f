"""What every verb works with: the parts of one server, bound together once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import field
from itertools import count
from random import Random
from typing import TYPE_CHECKING

from hyperkube_host.apiserver.admission.chain import AdmissionChain, UserMay
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.equivalents import ServedVersions
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.rest.ownership import FieldOwnership
from hyperkube_host.apiserver.rest.whole_seconds import WholeSeconds
from hyperkube_host.apiserver.serializer.decode import BodyDecoder
from hyperkube_lib.serving.kubelet_tokens import KubeletTokens

from hyperkube.hookspecs.admission import AdmissionRequest, Operation
from hyperkube.hookspecs.api import Call
from hyperkube.hookspecs.api_services import ApiServices
from hyperkube.hookspecs.authz import Authorizer
from hyperkube.hookspecs.stored_objects import Objects
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.dial import Dial
from hyperkube.machinery.objects import Object
from hyperkube.storage.store import LeaseNotFound, Store

if TYPE_CHECKING:
    from hyperkube_lib.serving.ssh_tunnels import SshTunnels

LEASE_REUSE_SECONDS = 60
LEASE_OBJECTS = 1000
"""Objects that share a lease at most: the store may delete all of them at once."""
_NO_LEASE = (0, 0.0, count())


class LeasePool:
    """Leases that objects of one lifetime share for a while, so that each event does not cost one.

    Source of the idea: kubernetes apiserver ``pkg/storage/etcd3/lease_manager.go``.

    Args:
        store: grants them.
        clock: for the while.
        reuse: seconds that a lease is given to further objects.
    """

    def __init__(self, store: Store, clock: Clock, reuse: int = LEASE_REUSE_SECONDS) -> None:
        self._store = store
        self._clock = clock
        self._reuse = reuse
        self._lock = threading.Lock()
        self._current: dict[int, tuple[int, float, count[int]]] = {}

    def lease(self, seconds: int) -> int:
        """Return a lease for one more object, for at least `seconds` and at most the time of reuse longer."""
        now = self._clock.monotonic()
        with self._lock:
            lease, until, taken = self._current.get(seconds, _NO_LEASE)
        if now < until and next(taken) < LEASE_OBJECTS:
            return lease
        # Without the lock: on a thread where several requests take turns the next would wait here for ever. Those that
        # come meanwhile get a lease each.
        lease = self._store.grant_lease(seconds + self._reuse)
        with self._lock:
            self._current[seconds] = (lease, now + self._reuse, count(1))
        return lease

    def forget(self, error: LeaseNotFound) -> None:
        """Drop all leases after one turned out to be gone."""
        with self._lock:
            self._current.clear()
        logging.getLogger("hyperkube.apiserver").warning("a lease was lost: %s", error)


@dataclass(slots=True, kw_only=True)
class Services:
    """The parts of one server that verbs use.

    Attributes:
        api: what strategies and handlers get of the server.
        kubelet_tokens: by which kubelets believe the server, without a client certificate.
        ssh_tunnels: through which nodes are reached, with ``--ssh-user``.
        egress: what dials, by ``cluster`` and ``controlplane``, with ``--egress-selector-config-file``.
    """

    registry: Registry
    store: Store
    clock: Clock
    seconds: WholeSeconds
    random: Random
    authorizer: Authorizer
    admission: AdmissionChain
    decoder: BodyDecoder
    objects: Objects
    ownership: FieldOwnership
    leases: LeasePool
    logger: logging.Logger
    options: Options
    api: ApiServices
    kubelet_tokens: KubeletTokens
    ssh_tunnels: SshTunnels | None = None
    egress: Mapping[str, Dial] = field(default_factory=dict)

    def call(self, request: ApiRequest, target: Target, *, body: Object | None = None, verb: str = "") -> Call:
        """Return the request as strategies and handlers see it."""
        query = request.query
        return Call(
            user=request.user,
            verb=verb or request.info.verb,
            resource=target.served.spec.resource,
            namespace=target.namespace,
            name=target.name,
            subresource=target.sub.name if target.sub is not None else "",
            body=body,
            dry_run=is_dry_run(request) if query else False,
            field_manager=request.param("fieldManager") if query else "",
            query={name: values[0] for name, values in query.items() if values} if query else {},
            objects=self.objects,
            clock=self.clock,
            authorizer=self.authorizer,
            services=self.api,
            gates=self.options.gates,
            warnings=request.warnings,
            audit_id=request.audit_id,
        )

    def admission_request(
        self,
        call: Call,
        target: Target,
        operation: Operation,
        *,
        obj: Object | None = None,
        old: Object | None = None,
        options: Object | None = None,
        annotations: dict[str, str] | None = None,
    ) -> AdmissionRequest:
        """Return a write as admission plugins see it."""
        return AdmissionRequest(
            operation=operation,
            resource=target.served.spec.resource,
            kind=target.kind,
            namespace=target.namespace,
            name=target.name,
            subresource=call.subresource,
            user=call.user,
            object=obj,
            old_object=old,
            options=options or {},
            dry_run=call.dry_run,
            may=UserMay(self.authorizer, call.user),
            annotations=annotations if annotations is not None else {},
            warnings=call.warnings,
            versions=ServedVersions(target),
            audit_id=call.audit_id,
        )


def is_dry_run(request: ApiRequest) -> bool:
    """Tell whether nothing may be stored."""
    return bool(request.param("dryRun"))
