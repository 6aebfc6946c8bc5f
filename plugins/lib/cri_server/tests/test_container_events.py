"""What a client hears of pods that change."""

import threading
from dataclasses import replace

import pytest
from hyperkube_lib.cri import CriClient
from hyperkube_lib.cri_server import CriServer
from hyperkube_lib.cri_server.container_events import NOTHING, EventCalls, PodView, Stage, transitions

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, RuntimeFailed, SandboxStatus
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.testing.waiting import eventually

SANDBOX = SandboxStatus(id="s", namespace="shop", name="web", uid="u", attempt=0, ready=True, created_at=1.0)
CONTAINER = ContainerStatus(
    id="c", sandbox_id="s", name="app", attempt=0, state=ContainerState.CREATED, image="app:1", image_id="i",
    created_at=1.0,
)  # fmt: skip


def view(container=None, *, sandbox=True, ready=True, known="c"):
    containers = {known: replace(CONTAINER, id=known, state=container)} if container is not None else {}
    return PodView({"s": replace(SANDBOX, ready=ready)} if sandbox else {}, containers)


def of_container(before, after):
    return [stage.name for one, stage in transitions(view(before), view(after)) if one == "c"]


CREATED, RUNNING, EXITED = ContainerState.CREATED, ContainerState.RUNNING, ContainerState.EXITED


@pytest.mark.parametrize(
    ("before", "after", "stages"),
    [
        (None, CREATED, ["CREATED"]),
        (CREATED, RUNNING, ["STARTED"]),
        (RUNNING, EXITED, ["STOPPED"]),
        (EXITED, None, ["DELETED"]),
        (RUNNING, RUNNING, []),
        (None, EXITED, ["CREATED", "STARTED", "STOPPED"]),
        (CREATED, EXITED, ["STARTED", "STOPPED"]),
        (RUNNING, None, ["STOPPED", "DELETED"]),
        (CREATED, None, ["DELETED"]),
    ],
)
def test_every_step_is_told_also_one_that_was_not_seen(before, after, stages):
    assert of_container(before, after) == stages


def test_a_pod_begins_with_its_sandbox_and_ends_with_it():
    assert transitions(NOTHING, view(CREATED)) == [
        ("s", Stage.CREATED), ("s", Stage.STARTED), ("c", Stage.CREATED),
    ]  # fmt: skip
    assert transitions(view(EXITED, ready=False), NOTHING) == [("c", Stage.DELETED), ("s", Stage.DELETED)]


def test_a_short_life_that_was_not_seen_is_told_in_order():
    assert transitions(view(), view(EXITED, ready=False)) == [
        ("c", Stage.CREATED), ("c", Stage.STARTED), ("c", Stage.STOPPED), ("s", Stage.STOPPED),
    ]  # fmt: skip


def test_a_sandbox_that_is_not_ready_yet_has_not_stopped():
    unready = view(ready=False)

    assert transitions(NOTHING, unready) == [("s", Stage.CREATED)]
    assert transitions(unready, view()) == [("s", Stage.STARTED)]
    assert transitions(view(), unready) == [("s", Stage.STOPPED)]
    assert transitions(unready, NOTHING) == [("s", Stage.DELETED)]


def test_a_container_stops_before_its_successor_begins():
    steps = transitions(view(RUNNING, known="a"), view(CREATED, known="b"))

    assert steps == [("a", Stage.STOPPED), ("a", Stage.DELETED), ("b", Stage.CREATED)]


class Pods:
    """A runtime of one pod that changes when a test says so."""

    name = "pods"

    def __init__(self):
        self.now, self.listeners, self.fails = view(RUNNING), [], False

    def subscribe(self, notify):
        self.listeners.append(notify)

    def sandboxes(self):
        return list(self.now.sandboxes.values())

    def pod(self, uid):
        if self.fails:
            raise RuntimeFailed("it is away")
        return (list(self.now.sandboxes.values()), list(self.now.containers.values())) if uid == "u" else ((), ())

    def become(self, now):
        self.now = now
        for notify in self.listeners:
            notify("u")


@pytest.fixture
def pods():
    return Pods()


def collected(stream):
    stream.cancel()
    return list(stream)


def test_what_was_there_before_is_no_event(pods):
    stream = EventCalls(pods, pods, FakeClock()).get_container_events({})

    assert collected(stream) == []


def test_an_event_has_the_pod_as_it_is_now(pods):
    stream = EventCalls(pods, pods, FakeClock()).get_container_events({})

    pods.become(view(EXITED))
    (event,) = collected(stream)

    assert (event["container_id"], event["container_event_type"]) == ("c", "CONTAINER_STOPPED_EVENT")
    assert event["pod_sandbox_status"]["metadata"]["uid"] == "u"
    assert [one["state"] for one in event["containers_statuses"]] == ["CONTAINER_EXITED"]


def test_a_deleted_sandbox_is_told_as_it_last_was(pods):
    stream = EventCalls(pods, pods, FakeClock()).get_container_events({})

    pods.become(NOTHING)

    last = collected(stream)[-1]
    assert (last["container_id"], last["container_event_type"]) == ("s", "CONTAINER_DELETED_EVENT")
    assert last["pod_sandbox_status"]["id"] == "s"
    assert last["containers_statuses"] == []


def test_a_runtime_that_is_away_is_asked_again_at_the_next_change(pods):
    stream = EventCalls(pods, pods, FakeClock()).get_container_events({})

    pods.fails = True
    pods.become(view(EXITED))
    events = iter(stream)
    heard = []
    reader = threading.Thread(target=lambda: heard.extend(events))
    reader.start()
    eventually(lambda: not stream._queue.qsize())
    pods.fails = False
    pods.become(view(EXITED))
    stream.cancel()
    reader.join()

    assert [event["container_event_type"] for event in heard] == ["CONTAINER_STOPPED_EVENT"]


def test_a_client_over_the_socket_hears_until_it_leaves(pods, tmp_path):
    server = CriServer(pods, f"unix://{tmp_path}/cri.sock", SystemClock())
    server.start()
    client = CriClient(f"unix://{tmp_path}/cri.sock")
    try:
        with client.events() as events:
            heard = iter(events)
            eventually(lambda: [one for notify in pods.listeners for one in notify.__self__._streams if one._known])
            pods.become(view(EXITED))
            assert next(heard)["container_event_type"] == "CONTAINER_STOPPED_EVENT"
        eventually(lambda: not pods.listeners[0].__self__._streams)
    finally:
        client.close()
        server.close()


def test_a_client_that_reads_nothing_costs_no_memory(pods):
    stream = EventCalls(pods, pods, FakeClock()).get_container_events({})

    for _ in range(1000):
        pods.become(view(EXITED))

    assert stream._queue.qsize() == 1
