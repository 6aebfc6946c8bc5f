"""The manager: identities, shared informers, leader election, and a clean end."""

import importlib.util
import threading
import time
from pathlib import Path

import pytest
from hyperkube_lib.controller_manager import manager as module
from hyperkube_lib.controller_manager.manager import ControllerManager
from hyperkube_lib.controller_manager.options import ManagerOptions

from hyperkube.client.fake import FakeClient
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.kinds.resources import LEASES, PODS
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import Plugin, PluginHost
from hyperkube.testing.waiting import eventually

_spec = importlib.util.spec_from_file_location("managers", Path(__file__).with_name("managers.py"))
managers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(managers)
MANAGER = managers.MANAGER


class Counting(Plugin):
    """Patches each pod once."""

    @hookimpl
    def controller_build(self):
        loop = ReconcileLoop(self.context.name, self.sync, clock=self.context.clock)
        loop.watch(self.informers.informer(PODS))
        return loop

    def sync(self, key):
        namespace, _, name = key.partition("/")
        pod = self.informers.informer(PODS).get(namespace, name)
        if pod is not None and "seen" not in pod["metadata"].get("labels", {}):
            self.client.patch(PODS, name, {"metadata": {"labels": {"seen": self.context.name}}}, namespace)


class Waiting:
    """A controller that needs a thread of its own."""

    def __init__(self):
        self.stopped = threading.Event()
        self.ran_on = ""

    def run(self):
        self.ran_on = threading.current_thread().name
        self.stopped.wait(60)

    def stop(self):
        self.stopped.set()


@pytest.fixture
def world(monkeypatch, entries):
    """A fake server; the plugins `one` and `two` are installed."""
    monkeypatch.setattr(module, "installed", lambda _family: entries("one", "two"))

    def load(family, names, specs, context):
        return PluginHost(family, specs, [(name, Counting(context(name))) for name in names])

    monkeypatch.setattr(module, "load", load)
    return FakeClient(SystemClock())


def build(world, users=None, **options):
    def client_for(user):
        if users is not None:
            users.append(user.name)
        return world

    return ControllerManager(client_for=client_for, options=ManagerOptions.in_process(MANAGER, options))


def pod(name):
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "d"}}


def test_controllers_work_once_started_and_stop_when_closed(world):
    manager = build(world, controllers=["one"])
    manager.start()
    world.create(PODS, pod("a"))
    eventually(lambda: world.get(PODS, "a", "d")["metadata"].get("labels") == {"seen": "one"})
    assert manager.ready()
    assert manager.health() == {"one": True}

    manager.close()

    before = threading.active_count()
    world.create(PODS, pod("b"))
    time.sleep(0.05)
    assert "labels" not in world.get(PODS, "b", "d")["metadata"]
    assert threading.active_count() <= before


def test_a_controller_that_rests_has_no_thread_and_another_has_its_own(world, monkeypatch):
    waiting = Waiting()
    monkeypatch.setattr(
        Counting,
        "controller_build",
        hookimpl(
            lambda self: waiting if self.context.name == "one" else ReconcileLoop("two", str, clock=SystemClock())
        ),
    )
    manager = build(world)
    manager.start()

    def controllers():
        return {thread.name for thread in threading.enumerate() if thread.name.startswith("controller-")}

    assert eventually(lambda: waiting.ran_on == "controller-one" and controllers() == {"controller-one"})
    manager.close()
    assert controllers() == set()


def test_each_controller_has_an_identity_of_its_own(world):
    users = []
    manager = build(world, users)

    manager.start()
    manager.close()

    assert users == [
        "system:kube-controller-manager",
        "system:serviceaccount:kube-system:one-controller",
        "system:serviceaccount:kube-system:two-controller",
    ]


def test_an_unknown_controller_is_the_users_mistake(world):
    with pytest.raises(UsageError, match="three"):
        build(world, controllers=["three"])


def test_only_the_leader_works(world):
    first = build(world, **{"leader-elect": True})
    first.start()
    eventually(lambda: bool(first.health()))
    second = build(world, **{"leader-elect": True})
    second.start()

    assert second.ready()
    assert second.health() == {}
    assert world.objects(LEASES, "kube-system")[0]["metadata"]["name"] == "kube-controller-manager"
    second.close()
    first.close()
    assert world.objects(LEASES, "kube-system")[0]["spec"]["holderIdentity"] == ""


def test_a_lost_lease_is_told_before_any_controller_is_waited_for(world, monkeypatch):
    waiting, told = Waiting(), threading.Event()
    monkeypatch.setattr(Counting, "controller_build", hookimpl(lambda _self: waiting))
    stopped_before = []

    def lost():
        stopped_before.append(waiting.stopped.is_set())
        told.set()

    flags = {"leader-elect": True, "leader-elect-retry-period": 0.02, "controllers": ["one"]}
    manager = ControllerManager(
        client_for=lambda _user: world, options=ManagerOptions.in_process(MANAGER, flags), on_lost=lost
    )
    manager.start()
    eventually(lambda: waiting.ran_on)

    lease = world.get(LEASES, "kube-controller-manager", "kube-system")
    world.update(LEASES, {**lease, "spec": {**lease["spec"], "holderIdentity": "another"}}, "kube-system")

    assert told.wait(30)
    assert stopped_before == [False]
    eventually(waiting.stopped.is_set)
    manager.close()


@pytest.mark.slow
def test_a_controller_that_still_works_keeps_the_lock_from_others(world, monkeypatch):
    begun, may_end = threading.Event(), threading.Event()

    def sync(_self, _key):
        begun.set()
        may_end.wait(60)

    monkeypatch.setattr(Counting, "sync", sync)
    manager = build(world, controllers=["one"], **{"leader-elect": True})
    manager.start()
    world.create(PODS, pod("a"))
    assert begun.wait(30)

    manager.close()

    assert world.objects(LEASES, "kube-system")[0]["spec"]["holderIdentity"]
    may_end.set()


def test_configz_names_the_controllers(world):
    assert build(world).configuration()["controllers"] == ["one", "two"]
