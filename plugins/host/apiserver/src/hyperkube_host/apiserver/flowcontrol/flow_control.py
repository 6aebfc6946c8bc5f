"""Priority and fairness: finds each request's level, and gives it a seat, a place in a queue, or a refusal.

Source: kubernetes apiserver ``pkg/util/flowcontrol``. Simpler than there: a request takes one seat however much it
lists, and seats are lent at the moment they are asked for, not by a forecast every ten seconds: a level may use idle
seats that others lend, up to its borrowing limit, and a lender takes its own back with its next request.

There is no thread of its own: the thread that frees a seat dispatches the next request. One lock covers levels, queues
and states, because seats are lent between levels; callbacks are called after it is released, as they may do anything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import field

from hyperkube_host.apiserver.flowcontrol import mandatory
from hyperkube_host.apiserver.flowcontrol.classification import Classification
from hyperkube_host.apiserver.flowcontrol.flow_schemas import FlowSchema, flow_schema_of, in_order
from hyperkube_host.apiserver.flowcontrol.max_in_flight import READS, RequestState, is_unlimited
from hyperkube_host.apiserver.flowcontrol.metrics import FlowMetrics, text
from hyperkube_host.apiserver.flowcontrol.priority_levels import share_out
from hyperkube_host.apiserver.flowcontrol.queueset import Queue, QueueSet, idle_seats
from hyperkube_host.apiserver.flowcontrol.shuffle_sharding import deal, flow_hash
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import RequestInfo

from hyperkube.machinery.clock import Clock, Timer
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import UserInfo

_FLOWS_MAX = 8192
SCHEMA_HEADER, LEVEL_HEADER = "X-Kubernetes-Pf-Flowschema-Uid", "X-Kubernetes-Pf-Prioritylevel-Uid"

FlowKey = tuple[str, str]
"""The name of a schema, and the distinguisher."""


@dataclass(slots=True, eq=False)
class Flow:
    """Requests that are told apart from others by their schema and its distinguisher.

    Attributes:
        headers: of each of their answers.
        hand: the queues that they may wait in.
        generation: of the configuration that it was found in.
    """

    schema: FlowSchema
    distinguisher: str
    level: QueueSet[FlowRequest]
    metrics: FlowMetrics
    headers: tuple[tuple[str, str], ...]
    hand: tuple[int, ...]
    generation: int

    def has_free_seat(self) -> bool:
        """Tell whether a request that is over at once need not ask for a seat.

        Reads without the lock: the answer may be out of date by the time it is used. That is harmless, as such a
        request takes no seat, and one too many or too few of them changes nothing for those that do.
        """
        level = self.level
        return level.is_exempt or (not level.requests_waiting and level.executing < level.nominal)


@dataclass(slots=True, eq=False)
class FlowRequest:
    """One request under flow control: it has a seat, waits for one, or was rejected.

    `state` changes under the lock of `control` alone, and leaves ``WAITING`` once.
    """

    flow: Flow
    control: FlowControl
    is_read: bool
    arrived: float
    request: ApiRequest
    state: RequestState = RequestState.WAITING
    queue: Queue[FlowRequest] | None = None
    began: float = 0.0
    timer: Timer | None = None
    _ready: Callable[[], None] | None = field(default=None)

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """What the answer says of level and schema."""
        return self.flow.headers

    def subscribe(self, ready: Callable[[], None]) -> None:
        """Call `ready` once, from any thread, when the wait is over."""
        self.control.subscribe(self, ready)

    def finish(self) -> None:
        """Give the seat back; harmless for a request that has none."""
        if self.state is RequestState.EXECUTING:
            self.control.finish(self)

    def on_ready(self, ready: Callable[[], None]) -> bool:
        """Remember what to call; False when the wait is over already. The caller holds the lock."""
        if self.state is not RequestState.WAITING:
            return False
        self._ready = ready
        return True

    def notify(self) -> None:
        """Call what was subscribed, now that the wait is over. The caller does not hold the lock.

        The state has left ``WAITING`` under the lock before: a subscriber that came earlier is in `_ready` and is
        called here, and one that comes later is called by `subscribe`; so each is called exactly once.
        """
        if self.timer is not None:
            self.timer.cancel()
        if self._ready is not None:
            self._ready()


class FlowControl:
    """All levels of one server.

    Args:
        seats: of the whole server.
        wait_seconds: how long a request may wait in a queue.
        clock: measures waits and executions.
    """

    def __init__(self, seats: int, wait_seconds: float, clock: Clock) -> None:
        self._seats = seats
        self._wait_seconds = wait_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._levels: dict[str, QueueSet[FlowRequest]] = {}
        self._classification: Classification
        self._flows: dict[FlowKey, Flow] = {}
        self._counts = {True: 0, False: 0}
        self._waiting = 0
        self.metrics: dict[tuple[str, str], FlowMetrics] = {}
        self.generation = 0
        self.configure((), ())

    # configuration

    def configure(self, schemas: Iterable[Object], levels: Iterable[Object]) -> None:
        """Go by these objects from now on; those that every server must have are added where they are missing."""
        by_name = {**mandatory.levels(), **{level["metadata"]["name"]: level for level in levels}}
        known = {**mandatory.schemas(), **{schema["metadata"]["name"]: schema for schema in schemas}}
        settings = share_out(by_name.values(), self._seats)
        with self._lock:
            for name, wanted in settings.items():
                level = self._levels.get(name)
                if level is None:
                    self._levels[name] = QueueSet(wanted)
                else:
                    level.adopt(wanted)
            for name, level in list(self._levels.items()):
                if name not in settings:
                    level.quiescing = True
                    # With requests in it, it stays until a later change finds it empty: they must be dispatched.
                    if not level.executing and not level.requests_waiting:
                        del self._levels[name]
            ordered = [one for one in in_order(map(flow_schema_of, known.values())) if one.level in settings]
            # A user without any group is in none of the rules that cover all users.
            last = next(one for one in ordered if one.name == mandatory.CATCH_ALL)
            self._classification = Classification(ordered, last)
            # A new dict, and not a cleared one: readers without the lock keep the old one for their one look-up.
            self._flows = {}
            self.generation += 1
            # Levels may have more seats now, and no request need finish before the next one takes them.
            dispatched = self._dispatch(self._clock.monotonic())
        _notify(dispatched)

    def flow(self, info: RequestInfo, user: UserInfo) -> Flow:
        """Return the flow that a request belongs to."""
        known = info.flow
        if known is not None and known[0] is user:
            last: Flow = known[1]
            if last.generation == self.generation:
                return last
        # Read in the order opposite to `configure`: a flow found here is of this classification or an older one.
        flows = self._flows
        schema = self._classification.schema_of(info, user)
        flow = flows.get((schema.name, schema.distinguisher(info, user)))
        if flow is None:
            with self._lock:
                flow = self._classify(info, user)
        info.flow = (user, flow)
        return flow

    def _classify(self, info: RequestInfo, user: UserInfo) -> Flow:
        """Find the flow of a request, and remember it. The caller holds the lock."""
        schema = self._classification.schema_of(info, user)
        distinguisher = schema.distinguisher(info, user)
        key = (schema.name, distinguisher)
        flow = self._flows.get(key)
        if flow is not None:
            return flow
        level = self._levels[schema.level]
        settings = level.settings
        metrics = self.metrics.setdefault((settings.name, schema.name), FlowMetrics())
        headers = ((SCHEMA_HEADER, schema.uid), (LEVEL_HEADER, settings.uid))
        hand = deal(flow_hash(schema.name, distinguisher), settings.queues, settings.hand)
        flow = Flow(schema, distinguisher, level, metrics, headers, hand, self.generation)
        if len(self._flows) >= _FLOWS_MAX:
            self._flows.clear()
        self._flows[key] = flow
        return flow

    # requests

    def enter(self, request: ApiRequest) -> FlowRequest | None:
        """Seat, queue or reject a request; None for one that stays open and is not counted."""
        info = request.info
        if is_unlimited(info):
            return None
        flow = self.flow(info, request.user)
        now = self._clock.monotonic()
        entered = FlowRequest(flow, self, info.verb in READS, now, request)
        with self._lock:
            if flow.generation != self.generation:
                # The configuration changed after the look-up: its level may be gone, and a request that waited there
                # would never be dispatched.
                flow = entered.flow = self._classify(info, request.user)
            level = flow.level
            if level.is_exempt or (not level.requests_waiting and level.executing < level.nominal):
                level.executing += 1
                self._seat(entered, now)
            else:
                self._borrow_or_queue(entered, level, now)
        return entered

    def _borrow_or_queue(self, request: FlowRequest, level: QueueSet[FlowRequest], now: float) -> None:
        flow, metrics = request.flow, request.flow.metrics
        if not level.requests_waiting and self._may_borrow(level):
            level.executing += 1
            self._seat(request, now)
            return
        if not flow.hand:
            request.state = RequestState.REJECTED
            metrics.reject("concurrency-limit")
            return
        queue = level.shortest(flow.hand)
        if len(queue.waiting) >= level.settings.queue_length:
            request.state = RequestState.REJECTED
            metrics.reject("queue-full")
            return
        request.queue = queue
        level.enqueue(request, queue, now)
        metrics.waiting += 1
        self._waiting += 1
        request.timer = self._clock.call_later(self._wait_seconds, lambda: self._time_out(request, level, queue))

    def _seat(self, request: FlowRequest, now: float) -> None:
        request.state, request.began = RequestState.EXECUTING, now
        metrics = request.flow.metrics
        metrics.executing += 1
        metrics.dispatched += 1
        self._counts[request.is_read] += 1

    def _may_borrow(self, level: QueueSet[FlowRequest]) -> bool:
        return level.executing < level.settings.most and idle_seats(self._levels.values()) > 0

    def subscribe(self, request: FlowRequest, ready: Callable[[], None]) -> None:
        """Call `ready` when a request no longer waits; at once if it does not."""
        with self._lock:
            waits = request.on_ready(ready)
        if not waits:
            ready()

    def finish(self, request: FlowRequest) -> None:
        """Give a seat back, and to the request that is next."""
        now = self._clock.monotonic()
        seconds, metrics, level = now - request.began, request.flow.metrics, request.flow.level
        with self._lock:
            request.state = RequestState.FINISHED
            if request.queue is None:
                level.executing -= 1
            else:
                level.finish(request.queue, now, seconds)
            metrics.executing -= 1
            self._counts[request.is_read] -= 1
            metrics.executions.add(seconds)
            dispatched = self._dispatch(now) if self._waiting else ()
        if dispatched:
            _notify(dispatched)

    def _dispatch(self, now: float) -> list[FlowRequest]:
        """Seat as many waiting requests as there are seats for; the caller notifies them without the lock.

        All levels are looked at, not only the one of the seat that came free: it may be lent to any of them.
        """
        dispatched: list[FlowRequest] = []
        for level in self._levels.values():
            while level.requests_waiting and (
                level.is_exempt or level.executing < level.nominal or self._may_borrow(level)
            ):
                request = level.dispatch(now)
                if request is None:
                    break
                self._seat(request, now)
                self._waited(request, now, executed=True)
                dispatched.append(request)
        return dispatched

    def _waited(self, request: FlowRequest, now: float, *, executed: bool) -> None:
        self._waiting -= 1
        request.flow.metrics.waiting -= 1
        request.flow.metrics.waited(now - request.arrived, executed=executed)

    def _time_out(self, request: FlowRequest, level: QueueSet[FlowRequest], queue: Queue[FlowRequest]) -> None:
        now = self._clock.monotonic()
        with self._lock:
            # The timer may fire while a finishing request dispatches this one: then it is no longer in its queue.
            if request.state is not RequestState.WAITING or not level.remove(request, queue, now):
                return
            request.state = RequestState.REJECTED
            self._waited(request, now, executed=False)
            request.flow.metrics.reject("time-out")
        request.notify()

    # what is shown

    def current(self) -> dict[str, int]:
        """Return the requests under way, for metrics."""
        return {"readOnly": self._counts[True], "mutating": self._counts[False]}

    def text(self) -> bytes:
        """Return all that is counted, in Prometheus' text format."""
        levels = self.levels()
        with self._lock:
            return text(levels, self.metrics)

    def levels(self) -> list[QueueSet[FlowRequest]]:
        """Return the levels, by name."""
        with self._lock:
            return sorted(self._levels.values(), key=lambda level: level.settings.name)


def _notify(dispatched: Iterable[FlowRequest]) -> None:
    for request in dispatched:
        request.notify()
