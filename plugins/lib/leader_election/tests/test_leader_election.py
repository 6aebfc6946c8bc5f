"""Leader election on a fake clock and the fake API server."""

import subprocess
import sys
import threading

import pytest
from hyperkube_lib.leader_election import ElectionOptions, LeaderElector, lock_resource

from hyperkube.client.fake import FakeClient
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import ServiceUnavailable, UsageError


class Candidate:
    def __init__(self, client, clock, name, lock="leases"):
        self.started, self.stopped = threading.Event(), threading.Event()
        options = ElectionOptions(name="kube-controller-manager", lock=lock)
        self.elector = LeaderElector(
            client, clock, options, identity=name, on_started=self.started.set, on_stopped=self.stopped.set
        )
        self.elector.start()


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def client(clock):
    return FakeClient(clock)


def pass_time(clock, seconds, until=lambda: False):
    for _ in range(int(seconds * 4)):
        if until():
            return
        clock.advance(0.25)
        threading.Event().wait(0.003)


@pytest.mark.parametrize("lock", ["leases", "endpoints", "configmaps"])
def test_the_first_leads_and_the_second_follows_when_it_steps_down(client, clock, lock):
    first = Candidate(client, clock, "one", lock)
    assert first.started.wait(30)
    second = Candidate(client, clock, "two", lock)
    pass_time(clock, 20)
    assert not second.started.is_set()

    first.elector.stop()
    pass_time(clock, 10, second.started.is_set)

    assert first.stopped.is_set()
    assert second.started.is_set()
    second.elector.stop()
    assert client.objects(lock_resource(lock))[0]["metadata"]["name"] == "kube-controller-manager"


def test_a_lock_that_is_not_given_up_runs_out(client, clock):
    first = Candidate(client, clock, "one")
    assert first.started.wait(30)
    second = Candidate(client, clock, "two")

    first.elector.stop(release=False)
    pass_time(clock, 10, second.started.is_set)
    led_early = second.started.is_set()
    pass_time(clock, 20, second.started.is_set)

    assert first.stopped.is_set()
    assert (led_early, second.started.is_set()) == (False, True)
    second.elector.stop()


def test_a_lease_tells_holder_duration_and_transitions(client, clock):
    candidate = Candidate(client, clock, "one")
    assert candidate.started.wait(30)

    (lease,) = client.objects(lock_resource("leases"))
    candidate.elector.stop()

    assert lease["spec"] == {
        "holderIdentity": "one",
        "leaseDurationSeconds": 15,
        "acquireTime": "2030-01-01T00:00:00.000000Z",
        "renewTime": "2030-01-01T00:00:00.000000Z",
        "leaseTransitions": 0,
    }


def test_a_leader_that_cannot_renew_says_so_within_its_deadline(client, clock):
    candidate = Candidate(client, clock, "one")
    assert candidate.started.wait(30)
    for _ in range(20):
        client.fail_next("get", "leases", ServiceUnavailable("away"))

    pass_time(clock, 15, candidate.stopped.is_set)

    assert candidate.stopped.is_set()


@pytest.fixture
def gate():
    """Return what lets the client's hanging requests go on."""
    gate = threading.Event()
    yield gate
    gate.set()


def hang(client, monkeypatch, gate):
    """Let every further request for the lock hang until the gate opens, and then be carried out."""
    get, hangs = client.get, threading.Event()

    def get_late(*words):
        hangs.set()
        assert gate.wait(60)
        return get(*words)

    monkeypatch.setattr(client, "get", get_late)
    return hangs


def test_a_request_without_an_answer_does_not_delay_the_end(client, clock, gate, monkeypatch):
    candidate = Candidate(client, clock, "one")
    assert candidate.started.wait(30)
    hangs = hang(client, monkeypatch, gate)

    pass_time(clock, 15, candidate.stopped.is_set)

    assert hangs.is_set()
    assert candidate.stopped.wait(30)
    assert not candidate.elector.is_leader


def test_a_lock_that_was_taken_too_late_is_not_led_on(client, clock, gate, monkeypatch):
    hangs = hang(client, monkeypatch, gate)
    candidate = Candidate(client, clock, "one")
    assert hangs.wait(30)

    clock.advance(30)
    gate.set()
    led_at_once = candidate.started.wait(0.2)
    pass_time(clock, 10, candidate.started.is_set)

    assert not led_at_once
    assert candidate.started.is_set()
    candidate.elector.stop()


def test_durations_that_cannot_work_are_refused(client, clock):
    with pytest.raises(UsageError, match="leaseDuration"):
        LeaderElector(
            client, clock, ElectionOptions(name="x", lease_duration=5), identity="i", on_started=print, on_stopped=print
        )


def test_a_leader_that_cannot_begin_steps_down_at_once(client, clock):
    def fail():
        raise RuntimeError("a plugin is broken")

    stopped = threading.Event()
    options = ElectionOptions(name="kube-controller-manager")
    broken = LeaderElector(client, clock, options, identity="one", on_started=fail, on_stopped=stopped.set)
    with pytest.raises(RuntimeError):
        broken.run()

    other = Candidate(client, clock, "two")
    pass_time(clock, 4, other.started.is_set)

    assert stopped.is_set()
    assert not broken.is_leader
    assert other.started.is_set()
    other.elector.stop()


def test_a_process_that_led_ends_with_one_line_whatever_it_was_about_to_do():
    about_to_write = "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()"
    script = f"{about_to_write}; from hyperkube_lib.leader_election import end_at_once; end_at_once()"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=50)

    assert (done.returncode, done.stdout, done.stderr) == (1, "", "error: leaderelection lost\n")
