"""Containers are stopped with their preStop hook first, all within one grace period."""

import threading

import pytest
from hyperkube_host.kubelet.kuberuntime.stop_container import ContainerStopper
from hyperkube_host.kubelet.lifecycle.handlers import HandlerRunner

from hyperkube.hookspecs.runtime import ExecResult, ExecsSync, RuntimeFailed
from hyperkube.machinery.clock import SystemClock

POD = {"metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "spec": {"containers": [{"name": "c"}]}}


class Runtime(ExecsSync):
    """Runs commands that end when they are let, or with their container."""

    def __init__(self):
        self.calls = []
        self.stopped = threading.Event()

    def exec_sync(self, container_id, command, timeout):
        self.calls.append((" ".join(command), timeout))
        if command == ["slow"]:
            self.stopped.wait(10)
            raise RuntimeFailed("the container is gone")
        return ExecResult(stdout=b"", stderr=b"", exit_code=int(command == ["bad"]))

    def stop_container(self, container_id, grace):
        self.calls.append(("stop", grace))


class Events:
    """Keeps the reasons of events, and tells of the first."""

    def __init__(self):
        self.found = []
        self.came = threading.Event()

    def container_event(self, _pod, _container, _kind, reason, _message):
        self.found.append(reason)
        self.came.set()


@pytest.fixture
def runtime():
    made = Runtime()
    yield made
    made.stopped.set()


def stop(runtime, events, command, grace):
    clock = SystemClock()
    container = {"name": "c", **({"lifecycle": {"preStop": {"exec": {"command": [command]}}}} if command else {})}
    ContainerStopper(runtime, HandlerRunner(runtime, clock, events), events, clock).stop(
        POD, container, "id", "127.0.0.1", grace
    )


@pytest.mark.parametrize(("command", "reasons"), [("good", []), ("bad", ["FailedPreStopHook"])])
def test_a_hook_runs_before_the_stop_and_as_long_as_it_takes(runtime, command, reasons):
    events = Events()

    stop(runtime, events, command, 30)

    assert (runtime.calls, events.found) == ([(command, 0), ("stop", 30)], reasons)


def test_a_hook_that_outlasts_the_grace_period_has_failed_only_with_its_container(runtime):
    events = Events()

    stop(runtime, events, "slow", 0.1)

    assert (runtime.calls, events.found) == ([("slow", 0), ("stop", 2)], [])
    runtime.stopped.set()
    assert events.came.wait(10)
    assert events.found == ["FailedPreStopHook"]


def test_a_container_without_a_hook_is_stopped_at_once(runtime):
    stop(runtime, Events(), None, 5)

    assert runtime.calls == [("stop", 5)]
