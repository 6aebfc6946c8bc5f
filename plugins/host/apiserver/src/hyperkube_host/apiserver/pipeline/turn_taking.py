"""Which writes are handled by turns on one thread: those that wait for nothing but the store.

Whatever may wait before admission plugins are asked (they say so themselves) has a thread of its own: who has not been
authenticated lately, who acts as another, audit that is sent before the answer. So has what takes long: large bodies,
deletions of many, what opens connections, signs tokens or asks reviewers, custom objects that are converted or whose
schema has rules, and definitions and policies, whose schemas and expressions are compiled.

Flow control gives seats to who has come to a turn. So what kubernetes' levels do for the scheduler (``workload-high``)
is done before: a pod waits for its binding, and for nothing else that is written; events are for people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hyperkube_host.apiserver.authentication.union import Authentication, misplaced_token
from hyperkube_host.apiserver.pipeline.dispatch import locate
from hyperkube_host.apiserver.pipeline.impersonation import impersonates
from hyperkube_host.apiserver.request.request_info import KnownPaths, RequestInfo
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_host.apiserver.serializer.path_errors import PathNotFound
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_lib.serving.priority import Priority
from hyperkube_lib.transformed_store import TransformedStore

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.users import UserInfo
from hyperkube.storage.store import QueuesWrites

if TYPE_CHECKING:
    from hyperkube_host.apiserver.pipeline.auditor import Auditor

LARGEST_BODY = 64 * 1024
_VERBS = frozenset({"create", "update", "patch", "delete"})
_COMPILED = frozenset({"apiextensions.k8s.io", "admissionregistration.k8s.io"})
_PLACES_MAX = 4096
_BINDINGS, _EVENTS = ("/binding", "/bindings"), "/events"

_Place = tuple[str, str, str, str, str, bool]


class _Sender(NamedTuple):
    """Who sends the same header lines on connections with the same certificate, and until when that is known."""

    certificate: tuple[bytes, ...]
    user: UserInfo
    until: float


class TurnTaking:
    """Tells which requests take turns; used on the loop's thread alone, never blocks."""

    def __init__(
        self,
        services: Services,
        authentication: Authentication,
        audit: Auditor | None,
        clock: Clock,
        paths: KnownPaths,
        store: QueuesWrites,
    ) -> None:
        self._store = store
        self._services = services
        self._paths = paths
        self._monotonic = clock.monotonic
        self._authentication = authentication
        self._audit_waits = audit is not None and audit.may_block
        self._places: dict[_Place, bool] = {}
        self._generation = -1

    def takes(self, request: HttpRequest) -> bool:
        """Tell whether a request that is no read takes turns."""
        if self._audit_waits or len(request.body) > LARGEST_BODY:
            return False
        request.sender = self._sender(request)
        if request.sender is None:
            return False
        info, generation = self._paths.read(request), self._services.registry.generation
        known = info.turns
        if known is None or known[0] != generation:
            known = info.turns = generation, self._is_simple(info, generation)
        return known[1]

    def _is_simple(self, info: RequestInfo, generation: int) -> bool:
        """Tell whether a write to a path waits for nothing but the store, by a generation of the registry."""
        if not info.is_resource or info.verb not in _VERBS or info.group in _COMPILED:
            return False
        # What a path addresses may have changed with the registry; each kind of place is looked up once.
        if generation != self._generation or len(self._places) > _PLACES_MAX:
            self._places, self._generation = {}, generation
        place = (info.verb, info.group, info.version, info.resource, info.subresource, info.in_namespace)
        known = self._places.get(place)
        if known is None:
            known = self._places[place] = self._is_served_here(info)
        return known

    def _sender(self, request: HttpRequest) -> UserInfo | None:
        """Return who sent a request, None for one who has to be identified first, or who acts as another."""
        head = request.head
        known = head.read if head is not None else None
        if isinstance(known, _Sender) and known.certificate is request.certificate and self._monotonic() < known.until:
            return known.user
        found = self._authentication.remembered_until(request)
        if found is None:
            return None
        # Kubelets send the same lines, each with its own certificate: of those the lines need be looked at once.
        if not isinstance(known, _Sender) and (impersonates(request.headers) or misplaced_token(request.headers)):
            return None
        if head is not None:
            head.read = _Sender(request.certificate, *found)
        return found[0]

    def _is_served_here(self, info: RequestInfo) -> bool:
        """Tell whether a place has objects of this server's store that are written without asking anything else."""
        try:
            target = locate(self._services.registry, info)
        except (PathNotFound, ApiError):
            return False
        served, sub = target.served, target.sub
        if served.storage is None or not self._queues(served.storage.store):
            return False
        if served.custom and (served.converts or getattr(served.strategy, "has_rules", False)):
            return False
        return sub is None or not (sub.connect or info.subresource == "token")

    def _queues(self, store: object) -> bool:
        """Tell whether what is written to a store waits for the turns' commit, and not here for another store's."""
        if not isinstance(store, QueuesWrites):
            return False
        inner = store.store if isinstance(store, TransformedStore) else store
        return any(each is self._store for each in (store, inner))


def priority(request: HttpRequest) -> Priority:
    """Tell how soon a write has its turn: a pod's binding, in either of its two places, before others; events after."""
    if request.method == "POST":
        if request.path.endswith(_BINDINGS):
            return Priority.HIGH
        if request.path.endswith(_EVENTS):
            return Priority.LOW
    return Priority.USUAL
