"""``GetContainerEvents``: what happened to containers and sandboxes, found by comparing a pod with what it was.

A runtime tells only which pod changed (`NotifiesChanges`). Every client has a queue of such pods and a memory of what
it was told; steps that nothing saw, such as the start of a container that has ended already, are told all the same.
What was there before the client came is no event.

Source: kubernetes ``staging/src/k8s.io/cri-api/pkg/apis/runtime/v1/api.proto`` (ContainerEventResponse).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from queue import SimpleQueue
from typing import Any

from hyperkube_lib.cri_server import messages
from hyperkube_lib.grpc_messages import Handler

from hyperkube.hookspecs.runtime import (
    ContainerState,
    ContainerStatus,
    NotifiesChanges,
    Runtime,
    RuntimeFailed,
    SandboxStatus,
)
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass

_log = logging.getLogger("hyperkube.cri")


class Stage(IntEnum):
    """How far a container or sandbox has come; each is reached by an event."""

    CREATED = 0
    STARTED = 1
    STOPPED = 2
    DELETED = 3


_STAGES = {
    ContainerState.CREATED: Stage.CREATED,
    ContainerState.RUNNING: Stage.STARTED,
    ContainerState.EXITED: Stage.STOPPED,
}


@dataclass(frozen=True, slots=True)
class PodView:
    """A pod's sandboxes and containers by id."""

    sandboxes: Mapping[str, SandboxStatus]
    containers: Mapping[str, ContainerStatus]

    def sandbox_stage(self, sandbox_id: str) -> Stage | None:
        """Return the stage of a sandbox, None for one that is not there.

        One that is not ready and has no container has yet to start; or it is over, which only an earlier view tells.
        """
        sandbox = self.sandboxes.get(sandbox_id)
        if sandbox is None:
            return None
        if sandbox.ready:
            return Stage.STARTED
        return Stage.STOPPED if self.container_stages(sandbox_id) else Stage.CREATED

    def container_stages(self, sandbox_id: str) -> dict[str, Stage]:
        """Return the stage of each container of a sandbox."""
        members = {known: one for known, one in self.containers.items() if one.sandbox_id == sandbox_id}
        # What a runtime cannot tell may run.
        return {known: _STAGES.get(one.state, Stage.STARTED) for known, one in members.items()}


NOTHING = PodView({}, {})


def transitions(before: PodView, after: PodView) -> list[tuple[str, Stage]]:
    """Return id and stage of each step from one view to the next, in the order in which a pod takes them.

    A sandbox starts before its containers and stops after them; its successor comes when it is over, and so it is with
    containers.
    """
    found: list[tuple[str, Stage]] = []
    for sandbox in {**before.sandboxes, **after.sandboxes}:
        old, new = before.sandbox_stage(sandbox), after.sandbox_stage(sandbox)
        if old is Stage.STARTED and new is Stage.CREATED:
            new = Stage.STOPPED
        steps = [(sandbox, stage) for stage in _steps(old, Stage.DELETED if new is None else new)]
        inner = _container_transitions(before.container_stages(sandbox), after.container_stages(sandbox))
        found += [step for step in steps if step[1] <= Stage.STARTED]
        found += inner
        found += [step for step in steps if step[1] > Stage.STARTED]
    return found


def _container_transitions(old: Mapping[str, Stage], new: Mapping[str, Stage]) -> list[tuple[str, Stage]]:
    ended = [(one, stage) for one in old for stage in _steps(old[one], new.get(one, Stage.DELETED))]
    begun = [(one, stage) for one in new if one not in old for stage in _steps(None, new[one])]
    return ended + begun


def _steps(before: Stage | None, after: Stage) -> list[Stage]:
    """Return the stages that were reached; a container that never ran does not stop when it is deleted."""
    first = 0 if before is None else before + 1
    steps = [stage for stage in Stage if first <= stage <= after]
    if before is Stage.CREATED and after is Stage.DELETED:
        return [Stage.DELETED]
    return steps


class ContainerEventStream:
    """The events of one client; iterated by its call's thread, cancelled from any."""

    def __init__(self, runtime: Runtime, clock: Clock, ended: Callable[[ContainerEventStream], None]) -> None:
        """Take the runtime, and what is called when it is cancelled."""
        self._runtime, self._clock, self._ended = runtime, clock, ended
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._queued: set[str] = set()
        self._known: dict[str, PodView] = {}

    def begin(self) -> None:
        """Remember what is there now; what changed since the stream was made is looked at after that."""
        for uid in {sandbox.uid for sandbox in self._runtime.sandboxes()}:
            self._known[uid] = self._look(uid)

    def changed(self, uid: str) -> None:
        """Look at a pod; once, however often it changes while a client reads slowly."""
        if uid not in self._queued:
            self._queued.add(uid)
            self._queue.put(uid)

    def cancel(self) -> None:
        """End the iteration."""
        self._ended(self)
        self._queue.put(None)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield ``ContainerEventResponse`` messages until cancelled."""
        while (uid := self._queue.get()) is not None:
            self._queued.discard(uid)  # before the look: a change from now on is looked at anew
            try:
                after = self._look(uid)
            except RuntimeFailed as error:
                # The runtime tells of all pods once it is back.
                _log.warning("no events of pod %s: %s", uid, error)
                continue
            before = self._known.pop(uid, NOTHING)
            if after != NOTHING:
                self._known[uid] = after
            for one, stage in transitions(before, after):
                yield self._event(one, stage, before, after)

    def _look(self, uid: str) -> PodView:
        sandboxes, containers = self._runtime.pod(uid)
        return PodView({one.id: one for one in sandboxes}, {one.id: one for one in containers})

    def _event(self, one: str, stage: Stage, before: PodView, after: PodView) -> dict[str, Any]:
        container = after.containers.get(one) or before.containers.get(one)
        sandbox_id = one if container is None else container.sandbox_id
        sandbox = after.sandboxes.get(sandbox_id) or before.sandboxes.get(sandbox_id)
        members = [each for each in after.containers.values() if each.sandbox_id == sandbox_id]
        event: dict[str, Any] = {
            "container_id": one,
            "container_event_type": f"CONTAINER_{stage.name}_EVENT",
            "created_at": messages.nanoseconds(self._clock.now().timestamp()),
            "containers_statuses": [messages.container_status(each) for each in members],
        }
        return event if sandbox is None else event | {"pod_sandbox_status": messages.sandbox_status(sandbox)}


class EventCalls:
    """The call that streams events, on a runtime that tells of changes; subscribed to when the first client comes."""

    def __init__(self, runtime: Runtime, notifier: NotifiesChanges, clock: Clock) -> None:
        self._runtime, self._notifier, self._clock = runtime, notifier, clock
        self._lock = threading.Lock()
        self._streams: list[ContainerEventStream] = []
        self._subscribed = False

    def handlers(self) -> dict[str, Handler]:
        """Return the calls by name."""
        return {"GetContainerEvents": self.get_container_events}

    def get_container_events(self, _request: Mapping[str, Any]) -> ContainerEventStream:
        """Return the events from now on."""
        with self._lock:
            subscribes, self._subscribed = not self._subscribed, True
        if subscribes:
            self._notifier.subscribe(self._changed)
        stream = ContainerEventStream(self._runtime, self._clock, self._forget)
        with self._lock:
            self._streams.append(stream)
        stream.begin()
        return stream

    def _changed(self, uid: str) -> None:
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            stream.changed(uid)

    def _forget(self, stream: ContainerEventStream) -> None:
        with self._lock:
            if stream in self._streams:
                self._streams.remove(stream)
