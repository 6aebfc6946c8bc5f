"""What happens on a node between the shutdown's announcement and the machine's end."""

import threading
from queue import SimpleQueue

import pytest
from hyperkube_host.kubelet.nodeshutdown.grace_periods import GracePeriod
from hyperkube_host.kubelet.nodeshutdown.logind import LogindFailed
from hyperkube_host.kubelet.nodeshutdown.node_shutdown_manager import NodeShutdownManager, NodeShutdownServices

from hyperkube.machinery.clock import FakeClock
from hyperkube.testing.waiting import eventually

PERIODS = (GracePeriod(0, 20), GracePeriod(1000, 10))


def pod(name, priority=0, grace=30):
    return {"metadata": {"uid": name}, "spec": {"priority": priority, "terminationGracePeriodSeconds": grace}}


class FakeLock:
    """A lock that knows whether it is held."""

    is_held = True

    def close(self):
        self.is_held = False


class FakeLogind:
    """The login manager in memory: tells what `signals` is given; `accepts` says whether it takes a longer delay."""

    def __init__(self, delay=5.0, *, accepts=True):
        self.delay = delay
        self.signals = SimpleQueue()
        self.locks = []
        self._accepts = accepts

    @property
    def delays_shutdowns(self):
        return any(lock.is_held for lock in self.locks)

    def inhibit_delay(self):
        return self.delay

    def raise_inhibit_delay(self, seconds):
        if self._accepts:
            self.delay = seconds

    def inhibit(self):
        self.locks.append(FakeLock())
        return self.locks[-1]

    def shutdowns(self):
        while (found := self.signals.get()) is not None:
            yield found
        raise LogindFailed("ended watching the node for shutdown events")

    def close(self):
        self.signals.put(None)


class Rig:
    """A node with pods that end when they are told to."""

    def __init__(self, folder, *pods, logind=None, periods=PERIODS):
        self.clock, self.pods, self.logind = FakeClock(), pods, logind or FakeLogind()
        self.stopped, self.ended, self.events, self.syncs = [], set(), [], 0
        self.connections = [self.logind]
        services = NodeShutdownServices(
            connect=self._connect,
            active_pods=lambda: self.pods,
            stop=lambda pod, failure, condition, grace: self.stopped.append(
                (pod["metadata"]["uid"], failure.reason, condition["reason"], grace)
            ),
            is_stopped=self.ended.__contains__,
            sync_node=self._count_sync,
            node_event=lambda *event: self.events.append(event),
        )
        self.manager = NodeShutdownManager(periods, services, self.clock, folder)

    def _connect(self):
        if not self.connections:
            raise LogindFailed("cannot reach the system bus")
        return self.connections.pop(0)

    def _count_sync(self):
        self.syncs += 1

    def names(self):
        return [name for name, *_ in self.stopped]


@pytest.fixture
def rig_of(tmp_path):
    rigs = []

    def build(*pods, **given):
        rigs.append(Rig(tmp_path, *pods, **given))
        rigs[-1].manager.start()
        return rigs[-1]

    yield build
    for rig in rigs:
        rig.manager.close()


def test_the_delay_is_raised_to_what_all_groups_need_and_the_lock_is_taken(rig_of):
    rig = rig_of()

    assert rig.logind.delay == 30.0
    assert rig.logind.delays_shutdowns
    assert rig.manager.problem() == ""


def test_groups_end_one_after_the_other_and_then_the_machine_goes_on(rig_of):
    rig = rig_of(pod("critical", 1000, 5), pod("a"), pod("b", grace=3))

    rig.logind.signals.put(True)
    eventually(lambda: rig.names() == ["a", "b"])
    assert rig.logind.delays_shutdowns
    rig.ended.update("ab")
    # only an advance of the clock has the manager look again
    eventually(lambda: rig.clock.advance(0.1) or rig.names() == ["a", "b", "critical"])
    rig.ended.add("critical")
    eventually(lambda: rig.clock.advance(0.1) or not rig.logind.delays_shutdowns)

    assert [(name, grace) for name, _, _, grace in rig.stopped] == [("a", 20.0), ("b", 3.0), ("critical", 5.0)]
    assert {(reason, condition) for _, reason, condition, _ in rig.stopped} == {("Terminated", "TerminationByKubelet")}
    assert rig.events == [("Normal", "NodeShutdown", "Shutdown manager detected shutdown event")]
    assert rig.syncs == 1


def test_a_group_that_does_not_end_is_not_waited_for_longer_than_its_period(rig_of):
    rig = rig_of(pod("stuck"), pod("next", 1000))

    rig.logind.signals.put(True)
    eventually(lambda: rig.names() == ["stuck"])
    rig.clock.advance(19.0)
    assert rig.names() == ["stuck"]
    eventually(lambda: rig.clock.advance(0.5) or rig.names() == ["stuck", "next"])

    assert rig.clock.monotonic() >= 20.0


def test_no_pod_starts_on_a_node_that_shuts_down(rig_of):
    rig = rig_of()
    assert rig.manager.admit(pod("early")) is None

    rig.logind.signals.put(True)
    failure = eventually(lambda: rig.manager.admit(pod("late")))

    assert failure == ("NodeShutdown", "Pod was rejected as the node is shutting down.")
    assert rig.manager.problem() == "node is shutting down"


def test_a_shutdown_that_is_called_off_takes_the_lock_again(rig_of):
    rig = rig_of()

    rig.logind.signals.put(True)
    eventually(lambda: not rig.logind.delays_shutdowns)
    rig.logind.signals.put(False)
    eventually(lambda: rig.logind.delays_shutdowns)

    assert rig.manager.problem() == ""
    assert rig.events[-1][2] == "Shutdown manager detected shutdown cancellation"


def test_the_times_of_the_last_shutdown_are_remembered(rig_of, tmp_path):
    rig = rig_of()
    assert rig.manager.times() == (0.0, 0.0)

    rig.logind.signals.put(True)
    eventually(lambda: rig.manager.times()[1])

    now = rig.clock.now().timestamp()
    assert Rig(tmp_path).manager.times() == (now, now)


def test_a_login_manager_that_restarts_is_found_again(rig_of):
    rig, second = rig_of(), FakeLogind()

    rig.connections.append(second)
    rig.logind.close()
    eventually(lambda: rig.clock.advance(1.0) or second.delays_shutdowns)

    assert not rig.logind.delays_shutdowns


def test_a_close_ends_it_in_the_middle_of_a_connect(rig_of):
    rig, connects, goes_on = rig_of(), threading.Event(), threading.Event()

    class Slow(list):
        def pop(self, index):
            connects.set()
            goes_on.wait(30)
            return FakeLogind()

    rig.connections = Slow([None])
    rig.logind.close()
    eventually(lambda: rig.clock.advance(1.0) or connects.is_set())
    closing = threading.Thread(target=rig.manager.close)
    closing.start()
    goes_on.set()
    closing.join(30)

    assert not closing.is_alive()


@pytest.mark.parametrize(
    ("logind", "says"),
    [(FakeLogind(accepts=False), "unable to update logind InhibitDelayMaxSec to 30s"), (None, "cannot reach")],
    ids=["that waits too short", "that is not there"],
)
def test_a_login_manager_of_no_use_is_told_of_in_one_line(tmp_path, caplog, logind, says):
    rig = Rig(tmp_path, logind=logind)
    rig.connections = [logind] if logind else []

    rig.manager.start()
    rig.manager.close()

    assert says in caplog.text
    assert not rig.logind.delays_shutdowns


def test_without_grace_periods_nothing_is_asked(tmp_path):
    rig = Rig(tmp_path, periods=())
    before = threading.active_count()

    rig.manager.start()

    assert rig.connections
    assert threading.active_count() == before
