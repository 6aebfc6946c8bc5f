"""What the recorder writes, and what it leaves unwritten."""

import sys
import threading

import pytest

from hyperkube.client.events import (
    BURST,
    FEW,
    KEPT_SECONDS,
    LATE_SECONDS,
    MAX_ATTEMPTS,
    MOST_EVENTS,
    QUEUE_LENGTH,
    REFILL_SECONDS,
    SIMILAR_LIMIT,
    SIMILAR_SECONDS,
    EventRecorder,
)
from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import EVENTS
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import Forbidden, ServiceUnavailable
from hyperkube.testing.waiting import eventually

POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web", "namespace": "d", "uid": "u1"}}


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def client(clock):
    return FakeClient(clock)


@pytest.fixture
def recorder(client, clock):
    return EventRecorder(client, clock, "kubelet", "node-1")


def test_an_event_has_the_fields_that_describe_prints(client, recorder):
    recorder.event(POD, "Normal", "Started", "started container web", field_path="spec.containers{web}")

    assert recorder.flush()
    (event,) = client.objects(EVENTS)
    assert event["metadata"]["name"].startswith("web.")
    assert event["metadata"]["namespace"] == "d"
    assert event["involvedObject"] == {
        "kind": "Pod", "namespace": "d", "name": "web", "uid": "u1", "apiVersion": "v1",
        "fieldPath": "spec.containers{web}",
    }  # fmt: skip
    assert event["source"] == {"component": "kubelet", "host": "node-1"}
    assert (event["reason"], event["type"], event["count"]) == ("Started", "Normal", 1)
    assert event["firstTimestamp"] == event["lastTimestamp"] == "2030-01-01T00:00:00Z"


def test_the_same_event_again_counts_up(client, recorder, clock):
    for _ in range(3):
        recorder.event(POD, "Warning", "BackOff", "back-off restarting")
        assert recorder.flush()
        clock.advance(5)

    (event,) = client.objects(EVENTS)
    assert event["count"] == 3
    assert event["firstTimestamp"] == "2030-01-01T00:00:00Z"
    assert event["lastTimestamp"] == "2030-01-01T00:00:10Z"


def test_many_similar_events_are_combined(client, recorder, clock):
    for number in range(12):
        clock.advance(1)
        recorder.event(POD, "Warning", "Failed", f"attempt {number}")
    assert recorder.flush()

    events = client.objects(EVENTS)
    assert len(events) == 10
    assert events[-1]["message"] == "(combined from similar events): attempt 11"
    assert events[-1]["count"] == 3


def test_a_source_that_talks_too_much_about_one_object_is_cut_short(client, recorder):
    for number in range(BURST + 10):
        recorder.event(POD, "Normal", f"Reason{number}", "x")
    assert recorder.flush()

    assert len([action for action in client.actions if action[0] == "create"]) == BURST


def test_an_event_that_has_expired_is_told_anew(client, recorder, clock):
    recorder.event(POD, "Normal", "Pulled", "x")
    assert recorder.flush()
    client.delete_collection(EVENTS, "d")
    clock.advance(1)

    recorder.event(POD, "Normal", "Pulled", "x")

    assert recorder.flush()
    assert [event["count"] for event in client.objects(EVENTS)] == [1]


def test_a_server_that_refuses_an_event_gets_the_next_one(client, recorder):
    client.fail_next("create", "events", Forbidden("no"))
    recorder.event(POD, "Normal", "Lost", "x")
    recorder.event(POD, "Normal", "Kept", "x")

    assert recorder.flush()
    assert [event["reason"] for event in client.objects(EVENTS)] == ["Kept"]


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ConnectionResetError("closed while it was idle"), id="connection"),
        pytest.param(ServiceUnavailable("busy", details={"retryAfterSeconds": 1}), id="busy"),
    ],
)
def test_an_event_is_written_at_once_to_a_server_that_was_away_for_a_moment(client, recorder, error):
    client.fail_next("create", "events", error)

    recorder.event(POD, "Normal", "Pulled", "x")

    assert recorder.flush()
    assert [event["reason"] for event in client.objects(EVENTS)] == ["Pulled"]


def test_events_wait_for_a_server_that_is_away(client, clock):
    away = threading.Event()
    away.set()
    tried = []

    class Away:
        """A client whose server is away while `away` is set."""

        def create(self, *given):
            tried.append(given)
            if away.is_set():
                raise ConnectionRefusedError("away")
            return client.create(*given)

    recorder = EventRecorder(Away(), clock, "kubelet", "node-1")
    for reason in ("Pulled", "Created", "Started"):
        recorder.event(POD, "Normal", reason, "x")
    eventually(lambda: len(tried) == 2)
    away.clear()
    clock.advance(10)

    assert recorder.flush()
    assert [event["reason"] for event in client.objects(EVENTS)] == ["Pulled", "Created", "Started"]


def test_an_event_is_given_up_after_two_minutes(client, clock):
    for _ in range(MAX_ATTEMPTS):
        client.fail_next("create", "events", ConnectionRefusedError("away"))
    recorder = EventRecorder(client, clock, "kubelet", "node-1")
    recorder.event(POD, "Normal", "Lost", "x")
    recorder.event(POD, "Normal", "Kept", "x")

    assert eventually(lambda: clock.advance(10) or recorder.flush(0.01))
    assert [event["reason"] for event in client.objects(EVENTS)] == ["Kept"]


def test_a_bug_costs_one_event(client, recorder, caplog):
    client.fail_next("create", "events", ZeroDivisionError("a bug"))

    recorder.event(POD, "Normal", "Lost", "x")
    recorder.event(POD, "Normal", "Kept", "x")

    assert recorder.flush()
    assert [event["reason"] for event in client.objects(EVENTS)] == ["Kept"]
    assert "event 'Lost' of web" in caplog.text


class Slow(FakeClient):
    """Takes events in when `open` is set, counts those that wait, and knows which came and what threads brought them."""

    def __init__(self, clock):
        super().__init__(clock)
        self.open = threading.Event()
        self.waiting = threading.Semaphore(0)
        self.threads = set()
        self.came = []

    def create(self, resource, obj, *given, **more):
        self.threads.add(threading.current_thread())
        self.came.append((obj["involvedObject"]["name"], obj["reason"]))
        self.waiting.release()
        assert self.open.wait(10)
        return super().create(resource, obj, *given, **more)


def about(name):
    return {**POD, "metadata": {**POD["metadata"], "name": name, "uid": name}}


def test_events_of_several_objects_do_not_wait_for_each_other(clock):
    client = Slow(clock)
    recorder = EventRecorder(client, clock, "kubelet", writers=3)
    recorder.event(about("a"), "Normal", "First", "x")
    assert client.waiting.acquire(timeout=10)

    for name in "bcdea":
        recorder.event(about(name), "Normal", "Later", "x")
        clock.advance(2 * LATE_SECONDS)

    assert all(client.waiting.acquire(timeout=10) for _ in range(2))
    assert not client.waiting.acquire(timeout=0.05)
    client.open.set()
    assert recorder.flush()
    assert len(client.threads) == 3
    assert sorted(client.came) == [("a", "First"), *((name, "Later") for name in "abcde")]


def test_events_of_one_object_are_written_in_order_though_others_overtake_them(clock):
    client = Slow(clock)
    recorder = EventRecorder(client, clock, "kubelet")
    for number in range(3):
        recorder.event(about("a"), "Normal", f"Reason{number}", "x")
        clock.advance(2 * LATE_SECONDS)

    recorder.event(about("b"), "Normal", "Other", "x")

    assert all(client.waiting.acquire(timeout=10) for _ in range(2))
    client.open.set()
    assert recorder.flush()
    assert client.came[:2] == [("a", "Reason0"), ("b", "Other")]
    assert [reason for name, reason in client.came if name == "a"] == ["Reason0", "Reason1", "Reason2"]


class Paired(Slow):
    """Takes all events but those of `a` in twos: each waits for another thread to bring one."""

    def __init__(self, clock):
        super().__init__(clock)
        self.two = threading.Barrier(2, timeout=10)

    def create(self, resource, obj, *given, **more):
        if obj["involvedObject"]["name"] != "a":
            self.two.wait()
        return super().create(resource, obj, *given, **more)


def test_events_that_a_slow_server_takes_one_after_another_find_more_writers_by_themselves(clock):
    client = Paired(clock)
    recorder = EventRecorder(client, clock, "kubelet")
    for name in "abcde":
        recorder.event(about(name), "Normal", "Told", "x")
    assert client.waiting.acquire(timeout=10)

    clock.advance(2 * LATE_SECONDS)
    client.open.set()

    assert recorder.flush(20)
    assert len(client.objects(EVENTS)) == 5
    assert len(client.threads) > 1


OBJECTS, EACH = 25, 8
"""Of each of sixteen threads, and the events of each object."""


def test_each_event_is_written_once_however_many_threads_tell_and_write(monkeypatch):
    monkeypatch.setattr("hyperkube.client.events.LATE_SECONDS", 0.0)
    monkeypatch.setattr("hyperkube.client.events.IDLE_SECONDS", 0.0005)  # so that threads end and begin all the time
    room, came, threads = threading.Semaphore(QUEUE_LENGTH), {}, set()

    class Server:
        def create(self, _resource, event, _namespace):
            came.setdefault(event["involvedObject"]["name"], []).append(event["reason"])
            threads.add(threading.get_ident())
            room.release()
            return event

    def tell(number):
        for turn in range(EACH * OBJECTS):
            room.acquire()
            name, reason = f"pod-{number}-{turn % OBJECTS}", f"Reason{turn // OBJECTS}"
            recorder.event(about(name), "Normal", reason, "x")

    recorder = EventRecorder(Server(), SystemClock(), "kubelet")
    tellers = [threading.Thread(target=tell, args=(number,)) for number in range(16)]
    for teller in tellers:
        teller.start()
    for teller in tellers:
        teller.join()

    assert recorder.flush(60)
    assert len(threads) > 1
    assert came == {f"pod-{n}-{m}": [f"Reason{k}" for k in range(EACH)] for n in range(16) for m in range(OBJECTS)}


def test_what_is_remembered_of_an_object_is_small(recorder):
    for reason in ("Scheduled", "Pulled", "Created", "Started", "Killing"):
        recorder.event(POD, "Normal", reason, f"about {'x' * 900}")
    assert recorder.flush()

    ((key, told),) = recorder._known.items()
    assert sys.getsizeof(key) <= 32, "a block of Python's of 32 bytes, not 48"
    assert sys.getsizeof(told) <= 208, "another one, for all five"


def test_what_was_written_minutes_ago_is_forgotten_when_all_rests(client, recorder, clock):
    other = {**POD, "metadata": {**POD["metadata"], "name": "other"}}
    recorder.event(POD, "Normal", "Old", "x")
    assert recorder.flush()
    clock.advance(KEPT_SECONDS)
    recorder.event(other, "Normal", "New", "x")
    assert recorder.flush()

    recorder.forget()

    assert len(recorder._known) == 1
    recorder.event(POD, "Normal", "Old", "x")
    recorder.event(other, "Normal", "New", "x")
    assert recorder.flush()
    counts = [(event["reason"], event["count"]) for event in client.objects(EVENTS)]
    assert sorted(counts) == [("New", 2), ("Old", 1), ("Old", 1)]


def test_of_many_objects_only_those_of_the_last_minutes_are_remembered(client, recorder, clock):
    for number in range(2 * FEW):
        recorder.event({**POD, "metadata": {**POD["metadata"], "uid": f"u{number}"}}, "Normal", "Started", "x")
    assert recorder.flush()
    before = len(recorder._known)
    clock.advance(SIMILAR_SECONDS)

    recorder.event({**POD, "metadata": {**POD["metadata"], "uid": "another"}}, "Normal", "Started", "x")

    assert recorder.flush()
    assert (before, len(recorder._known)) == (2 * FEW, FEW)


def test_of_an_object_only_the_latest_events_are_remembered(recorder, clock):
    for number in range(2 * MOST_EVENTS):
        recorder.event(POD, "Normal", f"Reason{number}", "x")
        assert recorder.flush()
        clock.advance(REFILL_SECONDS)

    (told,) = recorder._known.values()
    assert len(told) <= 12 + (MOST_EVENTS + 1) * 32


def test_after_ten_minutes_of_silence_messages_are_similar_to_none_of_before(client, recorder, clock):
    for group in range(2):
        for number in range(SIMILAR_LIMIT - 1):
            recorder.event(POD, "Warning", "Failed", f"attempt {group}-{number}")
        assert recorder.flush()
        clock.advance(SIMILAR_SECONDS + 1)
    recorder.event(POD, "Warning", "Failed", "attempt 0-0")

    assert recorder.flush()
    events = client.objects(EVENTS)
    assert len(events) == 2 * (SIMILAR_LIMIT - 1)
    assert {event["message"]: event["count"] for event in events}["attempt 0-0"] == 2
    assert not any("combined" in event["message"] for event in events)


def test_a_source_that_talks_too_much_is_not_forgotten(client, recorder, clock):
    for number in range(BURST + 10):
        recorder.event(POD, "Normal", f"Reason{number}", "x")
    assert recorder.flush()
    clock.advance(KEPT_SECONDS)

    recorder.forget()

    for number in range(10):
        recorder.event(POD, "Normal", f"Another{number}", "x")
    assert recorder.flush()
    assert len([action for action in client.actions if action[0] == "create"]) == BURST + 1


def test_what_is_told_later_has_the_time_at_which_it_happened(client, recorder, clock):
    at = clock.now()
    clock.advance(90)

    recorder.event(POD, "Normal", "Scheduled", "x", at=at)

    assert recorder.flush()
    (event,) = client.objects(EVENTS)
    assert event["firstTimestamp"] == event["lastTimestamp"] == "2030-01-01T00:00:00Z"


def test_a_burst_is_written_by_one_thread(client, clock):
    written_by = set()

    class Noting(FakeClient):
        def create(self, *arguments, **words):
            written_by.add(threading.get_ident())
            return super().create(*arguments, **words)

    recorder = EventRecorder(Noting(clock), clock, "kubelet")
    for number in range(20):
        recorder.event(POD, "Normal", f"Reason{number}", "x")
        assert recorder.flush()

    assert len(written_by) == 1


def test_the_thread_ends_when_no_event_comes_and_another_one_starts_with_the_next(client, recorder, monkeypatch):
    monkeypatch.setattr("hyperkube.client.events.IDLE_SECONDS", 0.001)
    recorder.event(POD, "Normal", "Started", "x")
    assert recorder.flush()
    tick = threading.Event()
    for _ in range(3000):
        if not any(thread.name == "events-kubelet" for thread in threading.enumerate()):
            break
        tick.wait(0.01)
    else:
        raise AssertionError("the thread has not ended")

    recorder.event(POD, "Normal", "Killing", "x")

    assert recorder.flush()
    assert [event["reason"] for event in client.objects(EVENTS)] == ["Started", "Killing"]
