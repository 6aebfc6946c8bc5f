"""Informers against the fake API server: the cache follows, handlers hear everything once, in order."""

import threading
from random import Random

import pytest

from hyperkube.client.client import Taken, WatchEvent
from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import CacheMutated, Informer, InformerFactory, cached_or_live
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import NotFound, ServiceUnavailable
from hyperkube.machinery.objects import name_of


def pod(name, **labels):
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "d", "labels": labels}}


@pytest.fixture
def client():
    return FakeClient(SystemClock())


@pytest.fixture
def factory(client):
    factory = InformerFactory(client, detect_mutations=True)
    yield factory
    factory.stop()


class Log:
    def __init__(self):
        self.lines = []
        self.changed = threading.Condition()

    def subscribe(self, informer):
        informer.add_handler(
            lambda obj: self.note("add", obj),
            lambda _old, new: self.note("update", new),
            lambda obj: self.note("delete", obj),
        )
        return self

    def note(self, what, obj):
        with self.changed:
            self.lines.append(f"{what} {name_of(obj)}")
            self.changed.notify_all()

    def wait_for(self, *lines):
        with self.changed:
            assert self.changed.wait_for(lambda: self.lines == [*lines], 30), self.lines


def test_the_cache_follows_the_server(client, factory):
    client.create(PODS, pod("a"))
    informer = factory.informer(PODS)
    log = Log().subscribe(informer)
    factory.start()
    assert factory.wait_synced(30)

    client.create(PODS, pod("b"))
    client.patch(PODS, "a", {"metadata": {"labels": {"x": "y"}}}, "d")
    client.delete(PODS, "b", "d")

    log.wait_for("add a", "add b", "update a", "delete b")
    assert [name_of(obj) for obj in informer.list("d")] == ["a"]
    assert informer.get("d", "b") is None


def test_a_late_subscriber_hears_what_is_there(client, factory):
    client.create(PODS, pod("a"))
    informer = factory.informer(PODS)
    factory.refresh()

    Log().subscribe(informer).wait_for("add a")


def test_the_same_view_is_the_same_informer(factory):
    assert factory.informer(PODS) is factory.informer(PODS)
    assert factory.informer(PODS, "d") is not factory.informer(PODS)
    assert factory.find(PODS) is factory.informer(PODS)


def test_an_index_finds_what_its_function_yields(client, factory):
    informer = factory.informer(PODS)
    informer.add_index("app", lambda obj: obj["metadata"]["labels"].values())
    client.create(PODS, pod("a", app="web"))
    factory.refresh()
    assert [name_of(obj) for obj in informer.by_index("app", "web")] == ["a"]

    client.patch(PODS, "a", {"metadata": {"labels": {"app": "db"}}}, "d")
    factory.refresh()

    assert informer.by_index("app", "web") == []
    assert [name_of(obj) for obj in informer.by_index("app", "db")] == ["a"]


def test_history_that_is_gone_is_answered_by_a_new_list(client, factory):
    client.create(PODS, pod("a"))
    informer = factory.informer(PODS)
    log = Log().subscribe(informer)
    factory.refresh()
    client.create(PODS, pod("b"))
    client.delete(PODS, "a", "d")
    client.compact()

    factory.start()

    log.wait_for("add a", "add b", "delete a")


def test_a_server_that_is_away_for_a_moment_is_asked_again(client, factory):
    client.fail_next("list", "pods", ServiceUnavailable("not yet"))
    factory.informer(PODS)
    factory.start()

    assert factory.wait_synced(30)


def test_who_waits_for_the_first_list_is_told_once_when_it_has_been_delivered(client, factory):
    client.create(PODS, pod("a"))
    informer = factory.informer(PODS)
    told = []
    informer.when_synced(lambda: told.append(informer.has_synced()))
    informer.when_synced(lambda: 1 / 0)
    informer.when_synced(lambda: told.append(len(informer)))
    assert told == []

    factory.refresh()
    factory.refresh()

    assert told == [True, 1]
    informer.when_synced(lambda: told.append("at once"))
    assert told == [True, 1, "at once"]


def test_an_object_of_the_same_name_and_another_uid_is_deleted_and_added(client, factory):
    client.create(PODS, pod("a"))
    informer = factory.informer(PODS)
    log = Log().subscribe(informer)
    factory.refresh()
    client.delete(PODS, "a", "d")
    client.create(PODS, pod("a"))

    factory.refresh()

    log.wait_for("add a", "delete a", "add a")


def test_the_detector_tells_of_a_changed_cached_object(client, factory):
    client.create(PODS, pod("a"))
    informer = factory.informer(PODS)
    factory.refresh()
    factory.check_mutations()

    informer.get("d", "a")["metadata"]["labels"] = {"oh": "no"}

    with pytest.raises(CacheMutated):
        factory.check_mutations()


def test_one_bad_handler_does_not_keep_the_event_from_the_next(client, factory, caplog):
    informer = factory.informer(PODS)
    informer.add_handler(lambda obj: obj["no such key"])
    log = Log().subscribe(informer)
    client.create(PODS, pod("a"))

    factory.refresh()

    log.wait_for("add a")
    assert "handler" in caplog.text


def test_a_scope_waits_only_for_what_was_asked_through_it(client, factory):
    factory.informer(PODS)
    scope = factory.scoped()

    assert scope.has_synced()
    assert scope.informer(PODS) is factory.informer(PODS)
    assert not scope.has_synced()


def test_what_is_asked_for_through_a_scope_counts_for_the_whole_factory(factory):
    scope, other = factory.scoped(), factory.scoped()

    informer = scope.informer(PODS)

    assert (factory.asked, scope.asked, other.asked) == ((informer,), (informer,), ())
    assert not factory.has_synced()
    scope.discard(informer)
    assert (factory.asked, scope.asked) == ((), ())


def test_what_the_cache_does_not_have_yet_comes_from_the_server(client, factory):
    informer = factory.informer(PODS)
    client.create(PODS, pod("a"))
    factory.refresh()
    client.create(PODS, pod("b"))

    assert cached_or_live(informer, client, "a", "d") is informer.get("d", "a")
    assert informer.get("d", "b") is None
    assert cached_or_live(informer, client, "b", "d")["metadata"]["name"] == "b"
    with pytest.raises(NotFound):
        cached_or_live(informer, client, "c", "d")


def test_stopping_wakes_who_waits_for_a_server_that_never_answers(client, factory):
    for _ in range(100):
        client.fail_next("list", "pods", ServiceUnavailable("away"))
    factory.informer(PODS)
    factory.start()
    answers = []
    waiter = threading.Thread(target=lambda: answers.append(factory.wait_synced()), daemon=True)
    waiter.start()

    factory.stop()

    waiter.join(30)
    assert answers == [False]


class Pauses(FakeClock):
    """A clock on which no pause takes long: it notes them, and stops the informer after so many."""

    def __init__(self, most):
        super().__init__()
        self.most, self.seconds, self.ended = most, [], threading.Event()

    def wait(self, event, timeout):
        self.seconds.append(timeout)
        self.advance(timeout)
        if len(self.seconds) == self.most:
            self.informer.stop()
            self.ended.set()
        return event.is_set()


class NoJitter(Random):
    def random(self):
        return 0.0


def pauses(client, most):
    """Let an informer go on until it has paused so often; return for how long each time."""
    clock = Pauses(most)
    clock.informer = Informer(client, clock, PODS, random=NoJitter())
    clock.informer.start()
    assert clock.ended.wait(30)
    return clock.seconds


def warned(caplog):
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


def test_what_goes_on_failing_is_asked_and_told_ever_more_seldom(client, caplog):
    for _ in range(17):
        client.fail_next("list", "pods", NotFound("no such resource"))

    assert pauses(client, 17) == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, *[30.0] * 9]

    assert warned(caplog) == ["informer of pods: no such resource"] * 4


def test_another_failure_is_told_at_once(client, caplog):
    for text in ("a", "a", "b", "b"):
        client.fail_next("list", "pods", ServiceUnavailable(text))

    pauses(client, 4)

    assert warned(caplog) == ["informer of pods: a", "informer of pods: b", "informer of pods: b"]


class BrokenWatch:
    """A watch that brings some events, then loses its connection."""

    def __init__(self, events):
        self._events = events

    def __iter__(self):
        yield from self._events
        raise ConnectionResetError("connection reset by peer")

    def close(self):
        self._events = ()


@pytest.mark.parametrize(
    ("events", "seconds"),
    [
        ([WatchEvent("BOOKMARK", {"metadata": {"resourceVersion": "9"}})], [0.2, 0.2, 0.2]),
        ([], [0.2, 0.4, 0.8]),
        ([WatchEvent("ERROR", {"code": 500, "reason": "InternalError", "message": "no"})], [0.2, 0.4, 0.8]),
    ],
    ids=["one that worked", "one that brought nothing", "one that was refused"],
)
def test_a_watch_that_breaks_counts_with_the_failures_before_it_unless_it_worked(client, monkeypatch, events, seconds):
    monkeypatch.setattr(client, "watch", lambda *_args, **_options: BrokenWatch(events))

    assert pauses(client, 3) == seconds


class Gathering(FakeClient):
    """A client whose informers take turns on threads; here the test makes each step."""

    def __init__(self):
        super().__init__()
        self.shared_threads = self
        self.news, self.looks = [], 0

    def task(self, step):
        self.step = step
        return self

    def wake(self):
        """Nothing is done by itself."""

    def stop(self):
        """There is nothing to end."""

    def watch(self, *_args, **_options):
        return self

    def connect(self, _ring):
        """The test knows when there is something to take."""

    def take(self):
        self.looks += 1
        taken, self.news = Taken(self.news, seconds=0.0 if self.news else 60.0), []
        return taken

    def close(self):
        """There is no connection."""


@pytest.mark.parametrize("pause", [0.0, 0.5])
def test_an_informer_pauses_when_events_came_and_waits_for_a_ring_when_none_did(pause):
    client = Gathering()
    informer = InformerFactory(client, FakeClock(), pause_of=lambda resource: pause if resource == PODS else 1.0)
    pods = informer.informer(PODS)
    pods.start()
    assert client.step() is None

    client.news = [WatchEvent("ADDED", pod("a")), WatchEvent("ADDED", pod("b"))]

    assert client.step() == pause
    assert [*map(name_of, pods.list())] == ["a", "b"]
    assert client.step() is None
    assert client.looks == 3
