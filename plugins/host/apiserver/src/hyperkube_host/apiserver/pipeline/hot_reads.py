"""Plain reads, answered right where they are parsed: what a path is and who may read it is looked up, not worked out.

What takes more than look-ups (a first read, a query, another format, an audited read) goes the way of all requests.
Where the store is another process, a read waits first until the cache has all that was written before it came; it is
answered here all the same, and takes no thread meanwhile.

Nothing here may be answered that the long way would refuse. So each remembered fact carries what it depends on, and is
compared with every read: what a path addresses goes with the registry's generation, who may read it with the
authorizers' epoch and the user's identity, the flow with the generation of flow control. A read that finds them
unchanged is as good as one that was answered just before the change.
The loop's thread alone reads and adds to what is remembered here, so that there is no lock; all may go at any time.
"""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

from hyperkube_host.apiserver.authentication.union import Authentication
from hyperkube_host.apiserver.authorization.union import Authorization
from hyperkube_host.apiserver.flowcontrol.flow_control import Flow, FlowControl
from hyperkube_host.apiserver.pipeline.dispatch import locate
from hyperkube_host.apiserver.pipeline.impersonation import impersonates
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import RequestInfo, parse
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.rest import read
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_host.apiserver.routes.metrics import RequestKey, RequestMetrics, RequestSeries, key_of
from hyperkube_host.apiserver.serializer.encode import JSON_HEADER, NO_CACHE, Encoder
from hyperkube_host.apiserver.serializer.negotiation import (
    ALL,
    LONGEST_ACCEPT,
    MESSAGE,
    PLAIN,
    YAML,
    Format,
    check_accepted,
    negotiate,
)
from hyperkube_host.apiserver.serializer.path_errors import PathNotFound
from hyperkube_lib.serving.aging_cache import AgingCache
from hyperkube_lib.serving.exchange import HttpRequest, Response, WaitForStore
from hyperkube_lib.watch_cache.resource_cache import ResourceCache

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, NotAcceptable
from hyperkube.machinery.random import unique_id
from hyperkube.machinery.recent import forgets
from hyperkube.machinery.users import UserInfo

if TYPE_CHECKING:
    from hyperkube_host.apiserver.pipeline.auditor import Auditor

LIST_MAX, ENCODED_MAX = 200, 50
"""Lists of more objects are made on a worker's thread; in other formats than JSON a first read encodes each of them."""

_PLACES_MAX, _LONGEST_PATH = 4096, 1024
_WHATEVER_IS_CACHED = {"resourceVersion": ["0"]}
_INDENTED = frozenset(("c", "W", "M"))
"""How agents begin that may be curl, Wget and browsers."""


def wanted_format(request: HttpRequest) -> Format | None:
    """Return the format that a plain read asks for, or None for any other request."""
    if request.method != "GET" or request.query_string:
        return None
    accept = request.headers.get("accept", "")
    return acceptable(accept) if len(accept) <= LONGEST_ACCEPT else None


@lru_cache(maxsize=512)
def acceptable(accept: str) -> Format | None:
    """Return the format that an Accept header asks for, or None for one that is refused or takes long to write."""
    try:
        check_accepted(accept, ALL)
        wanted = negotiate(accept, transforms=True, binary=True)
    except NotAcceptable:
        return None
    if wanted.stream or wanted.media_type == YAML:
        return None
    return wanted


@dataclass(slots=True)
class _Place:
    """What a path addresses, and who was last seen to be allowed to read it.

    Attributes:
        generation: of the registry that it was found in.
        user: the last reader; None when it was not read yet, or its reads have to be authorized each time.
        epoch: of the authorizers that allowed it.
        flow: of that reader's requests for this place; None when requests are merely counted.
        cache: holds the object under `cache_key`; None for lists.
    """

    info: RequestInfo
    target: Target
    generation: int
    key: RequestKey
    cache: ResourceCache | None
    cache_key: str
    series: RequestSeries
    user: UserInfo | None = None
    epoch: int = 0
    flow: Flow | None = None


@dataclass(slots=True, frozen=True)
class _Reader:
    """What header lines say of a plain read: who asks, until when that is known, and what for.

    Attributes:
        certificate: of the connection that it was found on: on another one the same lines may come from another user.
        stored: the object is wanted as it is kept. Not for what may be curl, Wget or a browser: they get it indented.
        audit_id: empty for one of the server's own.
    """

    certificate: tuple[bytes, ...]
    user: UserInfo
    until: float
    wanted: Format
    stored: bool
    audit_id: str


class HotReads:
    """Answers from memory; used on the loop's thread alone, never blocks.

    Args:
        waited: whether the reads that are answered have waited for the store (see `waits_for`).
    """

    def __init__(
        self,
        services: Services,
        encoder: Encoder,
        authentication: Authentication,
        authorization: Authorization,
        metrics: RequestMetrics,
        clock: Clock,
        audit: Auditor | None,
        flows: FlowControl | None = None,
        *,
        waited: bool = False,
    ) -> None:
        self._query = _WHATEVER_IS_CACHED if waited else {}
        self._services = services
        self._encoder = encoder
        self._authentication = authentication
        self._authorization = authorization
        self._metrics = metrics
        self._clock = clock
        self._audit = audit
        self._flows = flows
        self._random = Random()  # noqa: S311 -- tells requests apart, nothing more
        self._places: AgingCache[str, _Place] = AgingCache(_PLACES_MAX, clock.monotonic)
        forgets(self)
        services.registry.on_change(self.forget)  # no place is found any more, and each keeps a resource

    def forget(self) -> None:
        """Forget what paths address: it is found again with the next read."""
        self._places.forget()

    def answer(self, request: HttpRequest) -> Response | None:
        """Answer a plain read, or return None."""
        started = self._clock.monotonic()
        reader = self._reader(request, started)
        if reader is None:
            return None
        user, place = reader.user, self._places.get(request.path)
        # A resource may have been removed, or be served anew, since the place was found.
        if place is None or place.generation != self._services.registry.generation:
            place = self._find(request.path)
            if place is None:
                return None
        # The very object: authentication remembers users, so the same credentials give the same one, and groups need
        # not be compared. Another reader of the place, or changed roles, and the decision is looked up again.
        if (place.user is not user or place.epoch != self._authorization.epoch()) and not self._allows(place, user):
            return None
        flow = place.flow
        # A read that is over at once takes no seat, but waits with all others once its level has none.
        if flow is not None and not (flow := self._current(flow, place, user)).has_free_seat():
            return None
        cached = place.cache.peek(place.cache_key) if reader.stored and place.cache is not None else None
        if cached is not None:
            answer: Response | None = Response(headers=[JSON_HEADER, NO_CACHE], body=cached.body + b"\n")
        else:
            answer = self._kept_message(place, reader.wanted) or self._through_the_verb(
                request, place, user, reader.wanted
            )
        if answer is None:
            return None
        answer.headers.append(("Audit-Id", reader.audit_id or unique_id(self._random)))
        if flow is not None:
            answer.headers += flow.headers
            flow.metrics.hot += 1
        series = place.series
        if answer.status != place.key[-1]:
            series = self._metrics.series((*place.key[:-1], answer.status))
        series.add(self._clock.monotonic() - started)
        return answer

    def waits_for(self, request: HttpRequest) -> WaitForStore | None:
        """Return how a read waits for a store in another process, None if it is not answered here in any case."""
        if self._reader(request, self._clock.monotonic()) is None:
            return None
        place = self._places.get(request.path)
        if place is None or place.generation != self._services.registry.generation:
            place = self._find(request.path)
        storage = place.target.served.storage if place is not None else None
        if place is None or storage is None or not storage.cache.loaded:
            return None
        if not place.info.name and len(storage.cache) > LIST_MAX:
            return None
        return storage.cache.when_current

    def _reader(self, request: HttpRequest, now: float) -> _Reader | None:
        """Return what the header lines of a plain read say, as remembered with them where they are known; else None."""
        if request.method != "GET" or request.query_string:
            return None
        head = request.head
        known = head.read if head is not None else None
        if isinstance(known, _Reader) and known.certificate is request.certificate and now < known.until:
            return known
        wanted, found = wanted_format(request), self._authentication.remembered_until(request)
        headers = request.headers
        if wanted is None or found is None or impersonates(headers):
            return None
        stored = wanted is PLAIN and headers.get("user-agent", "")[:1] not in _INDENTED
        reader = _Reader(request.certificate, *found, wanted, stored, headers.get("audit-id", ""))
        if head is not None:
            head.read = reader
        return reader

    def _current(self, flow: Flow, place: _Place, user: UserInfo) -> Flow:
        """Return the flow of a user's reads of a place, found again if the configuration has changed."""
        if self._flows is not None and flow.generation != self._flows.generation:
            flow = place.flow = self._flows.flow(place.info, user)
        return flow

    def _kept_message(self, place: _Place, wanted: Format) -> Response | None:
        """Answer from the message that is kept of an object; None where it is to be made, or is not wanted."""
        if wanted is not MESSAGE or place.cache is None:
            return None
        cached = place.cache.peek(place.cache_key)
        return self._encoder.kept_message(place.target.served, cached) if cached is not None else None

    def _through_the_verb(self, request: HttpRequest, place: _Place, user: UserInfo, wanted: Format) -> Response | None:
        storage = place.target.served.storage
        is_list = not place.info.name
        most = LIST_MAX if wanted is PLAIN else ENCODED_MAX
        if storage is None or (is_list and len(storage.cache) > most):
            return None
        # Of what is not cached single objects are known that were read lately.
        if not storage.cache.loaded and (is_list or storage.cache.peek(place.cache_key) is None):
            return None
        if is_list and storage.cache.lost:
            return None  # the answer has warnings
        if wanted.kind == "Table" and not self._encoder.columns.knows(place.target.served):
            return None
        api = ApiRequest(
            method="GET", path=request.path, info=place.info, query=self._query, headers=request.headers, user=user
        )
        try:
            result = (read.list_objects if is_list else read.get)(self._services, api, place.target)
            answer = self._encoder.encode(api, result, wanted)
        except ApiError as error:
            answer = self._encoder.error(api, error, request.headers.get("accept", ""))
        return answer if isinstance(answer, Response) else None

    def _find(self, path: str) -> _Place | None:
        """Find what a path addresses, and remember it if it comes again; None for what is not read hot."""
        registry = self._services.registry
        # The generation is read before the look-up: if the registry changes in between, the place is found again.
        generation = registry.generation
        known = self._places.find(path)
        if known is not None and known.generation == generation:
            return known
        info = parse("GET", path, {})
        if not info.is_resource or info.subresource or info.verb not in {"get", "list"}:
            return None
        try:
            target = locate(registry, info)
        except (PathNotFound, ApiError):
            return None
        served = target.served
        if served.storage is None or served.converts or served.spec.deprecated or info.verb not in served.spec.verbs:
            return None
        if served.spec.read is not None:
            return None
        cache, key = (served.storage.cache if info.name else None), key_of(info, 200)
        where = cache.key(target.namespace, target.name) if cache is not None else ""
        place = _Place(info, target, generation, key, cache, where, self._metrics.series(key))
        if len(path) <= _LONGEST_PATH:
            self._places.keep(path, place, at_once=not info.name)
        return place

    def _allows(self, place: _Place, user: UserInfo) -> bool:
        """Tell whether a user is found to be allowed to read a place, and unrecorded; remember it if so."""
        # Read before the decision is looked up, for the same reason.
        epoch, attributes = self._authorization.epoch(), place.info.attributes(user)
        if self._audit is not None and self._audit.wants(attributes):
            return False
        # Of one object right here: each kubelet reads each of its pods a few times, most of which would be first ones
        # since another pod was bound, which ends all decisions.
        ask = self._authorization.at_once if place.cache is not None else self._authorization.remembered
        decision = ask(attributes)
        if decision is None or not decision.allowed:
            return False
        place.user, place.epoch = user, epoch
        place.flow = self._flows.flow(place.info, user) if self._flows is not None else None
        return True
