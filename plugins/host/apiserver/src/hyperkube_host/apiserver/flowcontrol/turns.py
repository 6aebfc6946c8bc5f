"""Lets requests in by turns: finds their level, gives them a seat, a place in a queue, or a refusal.

Source: kubernetes apiserver ``pkg/util/flowcontrol``. Simpler than there: a request takes one seat however much it
lists, and seats are lent at the moment they are asked for, not by a forecast every ten seconds: a level may use idle
seats that others lend, up to its borrowing limit, and a lender takes its own back with its next request.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from hyperkube_host.apiserver.flowcontrol import mandatory
from hyperkube_host.apiserver.flowcontrol.levels import share_out
from hyperkube_host.apiserver.flowcontrol.max_in_flight import ADMITTED, READS, REFUSED, WAITING, is_unlimited
from hyperkube_host.apiserver.flowcontrol.queueset import Level, Queue, idle_seats
from hyperkube_host.apiserver.flowcontrol.schemas import Schema, in_order, schema_of
from hyperkube_host.apiserver.flowcontrol.shuffle_sharding import deal, flow_hash
from hyperkube_host.apiserver.flowcontrol.tallies import Tally, text
from hyperkube_host.apiserver.request.calls import ApiRequest
from hyperkube_host.apiserver.request.request_info import RequestInfo

from hyperkube.machinery.clock import Clock, Timer
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import UserInfo

_FLOWS_MAX = 8192
SCHEMA_HEADER, LEVEL_HEADER = "X-Kubernetes-Pf-Flowschema-Uid", "X-Kubernetes-Pf-Prioritylevel-Uid"

FlowKey = tuple[UserInfo, str, str, str, str, str]


@dataclass(slots=True, eq=False)
class Flow:
    """Requests that are told apart from others by their schema and its distinguisher.

    Attributes:
        headers: of each of their answers.
        hand: the queues that they may wait in.
        generation: of the configuration that it was found in.
    """

    schema: Schema
    distinguisher: str
    level: Level
    tally: Tally
    headers: tuple[tuple[str, str], ...]
    hand: tuple[int, ...]
    generation: int

    def lets_in(self) -> bool:
        """Tell whether a request that is over at once need not ask for a seat."""
        level = self.level
        return level.is_exempt or (not level.waiting and level.executing < level.nominal)


@dataclass(slots=True, eq=False)
class Turn:
    """One request's place: it has a seat, waits for one, or was turned away."""

    flow: Flow
    control: FlowControl
    is_read: bool
    arrived: float
    request: ApiRequest
    state: str = WAITING
    queue: Queue | None = None
    began: float = 0.0
    _ready: Callable[[], None] | None = field(default=None)
    timer: Timer | None = None

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """What the answer says of level and schema."""
        return self.flow.headers

    def subscribe(self, ready: Callable[[], None]) -> None:
        """Call `ready` once, from any thread, when the wait is over."""
        self.control.subscribe(self, ready)

    def leave(self) -> None:
        """Give the seat back; harmless for whoever has none."""
        if self.state is ADMITTED:
            self.control.leave(self)

    def settle(self, state: str) -> Callable[[], None] | None:
        """End the wait; returns whom to tell."""
        self.state = state
        if self.timer is not None:
            self.timer.cancel()
        return self._ready

    def on_ready(self, ready: Callable[[], None]) -> bool:
        """Remember whom to tell; False when the wait is over already."""
        if self.state is not WAITING:
            return False
        self._ready = ready
        return True


class FlowControl:
    """All levels of one server.

    Args:
        seats: of the whole server.
        wait_seconds: how long a request may wait for its turn.
        clock: measures waits and services.
    """

    def __init__(self, seats: int, wait_seconds: float, clock: Clock) -> None:
        self._seats = seats
        self._wait_seconds = wait_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._levels: dict[str, Level] = {}
        self._schemas: list[Schema] = []
        self._flows: dict[FlowKey, Flow] = {}
        self._counts = {True: 0, False: 0}
        self._waiting = 0
        self.tallies: dict[tuple[str, str], Tally] = {}
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
                    self._levels[name] = Level(wanted)
                else:
                    level.adopt(wanted)
            for name, level in list(self._levels.items()):
                if name not in settings:
                    level.is_leaving = True
                    if not level.executing and not level.waiting:
                        del self._levels[name]
            ordered = in_order(map(schema_of, known.values()))
            self._schemas = [schema for schema in ordered if schema.level in settings]
            self._flows = {}
            self.generation += 1
            woken = self._next(self._clock.monotonic())
        _tell(woken)

    def flow(self, info: RequestInfo, user: UserInfo) -> Flow:
        """Return the flow that a request belongs to."""
        if info.is_resource:
            what = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
            key = (user, info.verb, info.group, what, info.namespace, "")
        else:
            key = (user, info.verb, "", "", "", info.path)
        flow = self._flows.get(key)
        return flow if flow is not None else self._find(key, info, user)

    def _find(self, key: FlowKey, info: RequestInfo, user: UserInfo) -> Flow:
        with self._lock:
            schema = next((one for one in self._schemas if one.matches(info, user)), None)
            if schema is None:  # a user without any group: none of the rules that cover everybody has them
                schema = next(one for one in self._schemas if one.name == mandatory.CATCH_ALL)
            level = self._levels[schema.level]
            settings = level.settings
            distinguisher = schema.distinguisher(info, user)
            tally = self.tallies.setdefault((settings.name, schema.name), Tally())
            headers = ((SCHEMA_HEADER, schema.uid), (LEVEL_HEADER, settings.uid))
            hand = deal(flow_hash(schema.name, distinguisher), settings.queues, settings.hand)
            flow = Flow(schema, distinguisher, level, tally, headers, hand, self.generation)
            if len(self._flows) >= _FLOWS_MAX:
                self._flows.clear()
            self._flows[key] = flow
            return flow

    # requests

    def enter(self, request: ApiRequest) -> Turn | None:
        """Give a request its turn, None to one that stays open and is not counted."""
        info = request.info
        if is_unlimited(info):
            return None
        flow = self.flow(info, request.user)
        level, now = flow.level, self._clock.monotonic()
        turn = Turn(flow, self, info.verb in READS, now, request)
        with self._lock:
            if level.is_exempt or (not level.waiting and level.executing < level.nominal):
                level.executing += 1
                self._seat(turn, now)
            else:
                self._crowd(turn, level, now)
        return turn

    def _crowd(self, turn: Turn, level: Level, now: float) -> None:
        flow, tally = turn.flow, turn.flow.tally
        if not level.waiting and self._may_borrow(level):
            level.executing += 1
            self._seat(turn, now)
            return
        if not flow.hand:
            turn.state = REFUSED
            tally.refuse("concurrency-limit")
            return
        queue = level.shortest(flow.hand)
        if len(queue.waiting) >= level.settings.queue_length:
            turn.state = REFUSED
            tally.refuse("queue-full")
            return
        turn.queue = queue
        level.put(turn, queue, now)
        tally.waiting += 1
        self._waiting += 1
        turn.timer = self._clock.call_later(self._wait_seconds, lambda: self._expire(turn, level, queue))

    def _seat(self, turn: Turn, now: float) -> None:
        turn.state, turn.began = ADMITTED, now
        tally = turn.flow.tally
        tally.executing += 1
        tally.dispatched += 1
        self._counts[turn.is_read] += 1

    def _may_borrow(self, level: Level) -> bool:
        return level.executing < level.settings.most and idle_seats(list(self._levels.values())) > 0

    def subscribe(self, turn: Turn, ready: Callable[[], None]) -> None:
        """Call `ready` when a turn no longer waits; at once if it does not."""
        with self._lock:
            waits = turn.on_ready(ready)
        if not waits:
            ready()

    def leave(self, turn: Turn) -> None:
        """Give a seat back, and to whoever is next."""
        now = self._clock.monotonic()
        seconds, tally, level = now - turn.began, turn.flow.tally, turn.flow.level
        with self._lock:
            turn.state = REFUSED
            level.finish(turn.queue, now, seconds)
            tally.executing -= 1
            self._counts[turn.is_read] -= 1
            tally.executed(seconds)
            woken = self._next(now) if self._waiting else ()
        _tell(woken)

    def _next(self, now: float) -> list[Turn]:
        woken: list[Turn] = []
        for level in self._levels.values():
            while level.waiting and (level.is_exempt or level.executing < level.nominal or self._may_borrow(level)):
                turn = level.take(now)
                if turn is None:
                    break
                self._seat(turn, now)
                self._waited(turn, now, executed=True)
                woken.append(turn)
        return woken

    def _waited(self, turn: Turn, now: float, *, executed: bool) -> None:
        self._waiting -= 1
        turn.flow.tally.waiting -= 1
        turn.flow.tally.waited(now - turn.arrived, executed=executed)

    def _expire(self, turn: Turn, level: Level, queue: Queue) -> None:
        with self._lock:
            if turn.state is not WAITING or not level.drop(turn, queue):
                return
            self._waited(turn, self._clock.monotonic(), executed=False)
            turn.flow.tally.refuse("time-out")
            tell = turn.settle(REFUSED)
        if tell is not None:
            tell()

    # what is shown

    def current(self) -> dict[str, int]:
        """Return the requests under way, for metrics."""
        return {"readOnly": self._counts[True], "mutating": self._counts[False]}

    def text(self) -> bytes:
        """Return all that is counted, in Prometheus' text format."""
        levels = self.levels()
        with self._lock:
            return text(levels, self.tallies)

    def levels(self) -> list[Level]:
        """Return the levels, by name."""
        with self._lock:
            return sorted(self._levels.values(), key=lambda level: level.settings.name)


def _tell(woken: Iterable[Turn]) -> None:
    for turn in woken:
        tell = turn.settle(ADMITTED)
        if tell is not None:
            tell()
