"""What is going on, as tables under ``/debug/api_priority_and_fairness``: a row per level, per queue, per request.

Source: kubernetes apiserver ``pkg/util/flowcontrol/apf_controller_debug.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from hyperkube_host.apiserver.flowcontrol.flow_control import FlowControl, FlowRequest
from hyperkube_host.apiserver.flowcontrol.queueset import QueueSet
from hyperkube_host.apiserver.health.health import text
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.routes.paths import Page
from hyperkube_lib.serving.exchange import Answer

from hyperkube.machinery.clock import Clock

ROOT = "/debug/api_priority_and_fairness"
_LEVELS = ("PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests")
_QUEUES = (
    "PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR",
    "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum",
)  # fmt: skip
_REQUESTS = (
    "PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime",
    "InitialSeats", "FinalSeats", "AdditionalLatency",
)  # fmt: skip
_DETAILS = ("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")


class DebugPages:
    """Answers the three paths."""

    def __init__(self, control: FlowControl, clock: Clock) -> None:
        self._control = control
        self._clock = clock

    def pages(self) -> Mapping[str, Page]:
        """Return the paths and what answers them."""
        return {
            f"{ROOT}/dump_priority_levels": self._levels,
            f"{ROOT}/dump_queues": self._queues,
            f"{ROOT}/dump_requests": self._requests,
        }

    def _levels(self, _request: ApiRequest) -> Answer:
        return text(_table([_LEVELS, *map(_level_row, self._control.levels())]))

    def _queues(self, _request: ApiRequest) -> Answer:
        rows: list[Sequence[str]] = [_QUEUES]
        for level in self._control.levels():
            for queue in level.queues:
                waiting = len(queue.waiting)
                figures = (queue.index, waiting, queue.executing, queue.executing)
                row = [
                    level.settings.name,
                    *map(str, figures),
                    f"{queue.next_dispatch:.8f}ss",
                    str(waiting),
                    str(waiting),
                ]
                rows.append([*row, f"{waiting * 0.003:.8f}ss"])
        return text(_table(rows))

    def _requests(self, request: ApiRequest) -> Answer:
        detailed = bool(request.param("includeRequestDetails"))
        rows: list[Sequence[str]] = [(*_REQUESTS, *_DETAILS) if detailed else _REQUESTS]
        now, moment = self._clock.monotonic(), self._clock.now()
        for level in self._control.levels():
            for queue in level.queues:
                for place, waiting in enumerate(list(queue.waiting)):
                    arrived = moment - timedelta(seconds=now - waiting.arrived)
                    when = f"{arrived:%Y-%m-%dT%H:%M:%S.%f}000Z"
                    flow = waiting.flow
                    row = [level.settings.name, flow.schema.name, str(queue.index), str(place), flow.distinguisher]
                    rows.append([*row, when, "1", "0", "0s", *(_details(waiting.request) if detailed else ())])
        return text(_table(rows))


def _level_row(level: QueueSet[FlowRequest]) -> Sequence[str]:
    name = level.settings.name
    if level.is_exempt:
        return (name, *["<none>"] * 5)
    active = sum(1 for queue in level.queues if queue.waiting)
    idle = not level.requests_waiting and not level.executing
    flags = (str(idle).lower(), str(level.quiescing).lower())
    return (name, str(active), *flags, str(level.requests_waiting), str(level.executing))


def _details(request: ApiRequest) -> Sequence[str]:
    info = request.info
    version = f"{info.group}/{info.version}" if info.group else info.version
    return (
        request.user.name, info.verb, info.path, info.namespace, info.name, version, info.resource, info.subresource
    )  # fmt: skip


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as columns of equal width, each but the last with its comma."""
    cells = [[f"{cell}," for cell in row[:-1]] + [row[-1]] for row in rows]
    widths = [max(8, *(len(row[place]) + 1 for row in cells)) for place in range(len(cells[0]) - 1)]
    lines = ["".join(cell.ljust(width) for cell, width in zip(row, [*widths, 0], strict=True)) for row in cells]
    return "\n".join(lines) + "\n"
