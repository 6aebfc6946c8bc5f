"""A binding whose answer is lost is looked up before its room is given away."""

import threading
from types import SimpleNamespace

import pytest
from hyperkube_host.scheduler.binding.binder import Binder

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import Conflict, Forbidden, InternalError, NotFound


class Fails:
    """A bind plugin that always raises."""

    def __init__(self, error):
        self._error = error

    def bind(self, pod, node):
        raise self._error


def outcome(error, stored, **parts):
    """Bind a pod with a plugin that raises; return what came of it."""
    profile = SimpleNamespace(reserves=(), permits=(), pre_binds=(), binds=(("Fails", Fails(error)),), post_binds=())
    pod = SimpleNamespace(key="default/web", pod={"metadata": {"name": "web"}, "spec": {}})
    clock, told, done = SystemClock(), [], threading.Event()
    binder = Binder(clock, stored=stored, **parts)

    def finished(result):
        told.append(result)
        done.set()

    binder.submit(profile, pod, "a", finished)
    assert done.wait(30)
    binder.close()
    clock.close()
    return told[0]


def test_a_pod_that_is_on_the_node_after_all_is_bound():
    assert outcome(ConnectionError("reset"), lambda pod, node: (pod.key, node) == ("default/web", "a")) is None


@pytest.mark.parametrize("error", [ConnectionError("reset"), Conflict("already assigned")], ids=["lost", "refused"])
def test_one_that_is_not_has_failed(error):
    assert str(outcome(error, lambda _pod, _node: False)) == str(error)


def test_a_server_that_is_away_is_asked_again(monkeypatch):
    monkeypatch.setattr("hyperkube_host.scheduler.binding.binder.ASK_AGAIN_SECONDS", 0.001)
    answers = iter([ConnectionError("away"), InternalError("not yet"), True])

    def stored(_pod, _node):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert outcome(ConnectionError("reset"), stored) is None
    assert next(answers, None) is None


def asked(_pod, _node):
    raise AssertionError("the API was asked though its answer was plain")


@pytest.mark.parametrize(
    ("details", "gone"),
    [({"kind": "pods", "name": "web"}, True), ({"kind": "persistentvolumeclaims", "name": "web"}, False)],
    ids=["pod", "other"],
)
def test_of_what_is_not_found_nothing_more_is_asked(details, gone):
    failed = outcome(NotFound("not found", details=details), asked)

    assert (str(failed), failed.rejected, failed.gone) == ("not found", False, gone)


def test_a_pod_that_went_while_its_binding_waited_is_not_bound():
    failed = outcome(AssertionError("it was bound"), asked, wanted=lambda pod: pod["metadata"]["name"] != "web")

    assert (str(failed), failed.gone) == ("pod default/web is gone", True)


def test_what_is_told_of_a_pod_is_settled_before_it_is_bound():
    settled = []

    assert str(outcome(Conflict("taken"), lambda _pod, _node: settled == [], settle=settled.append)) == "taken"
    assert settled == ["default/web"]


def test_who_may_not_ask_takes_the_error_as_it_is():
    def stored(_pod, _node):
        raise Forbidden("pods")

    assert str(outcome(ConnectionError("reset"), stored)) == "reset"


def test_a_binder_that_is_closed_finishes_what_is_under_way_and_begins_nothing_more():
    clock, told, begun, go_on = SystemClock(), [], threading.Event(), threading.Event()

    class Slow:
        def bind(self, pod, node):
            begun.set()
            return go_on.wait(30)

    profile = SimpleNamespace(reserves=(), permits=(), pre_binds=(), binds=(("Slow", Slow()),), post_binds=())
    pod = SimpleNamespace(key="default/web", pod={"spec": {}})
    binder = Binder(clock)
    binder.submit(profile, pod, "a", told.append)
    assert begun.wait(30)
    closing = threading.Thread(target=binder.close)
    closing.start()
    go_on.set()
    closing.join(30)
    assert told == [None]

    binder.submit(profile, pod, "a", told.append)
    binder.close()

    assert told == [None]
    clock.close()
