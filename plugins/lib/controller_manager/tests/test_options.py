"""From the values of flags to the controller manager's options: which controllers run, and how they are started."""

from __future__ import annotations

import importlib.util
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hyperkube_lib.controller_manager import manager as module
from hyperkube_lib.controller_manager.manager import ControllerManager
from hyperkube_lib.controller_manager.options import ManagerOptions

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs import hookimpl
from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin import Plugin, PluginHost
from hyperkube.testing.waiting import eventually

_spec = importlib.util.spec_from_file_location("managers", Path(__file__).with_name("managers.py"))
managers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(managers)
MANAGER = managers.MANAGER


@pytest.fixture
def managing(monkeypatch, entries):
    """Return a function that makes a manager with some flags, of controllers that only note when they began."""
    began = {}

    class Noting(Plugin):
        """Notes when it begins."""

        @hookimpl
        def controller_build(self):
            stopped, name = threading.Event(), self.context.name

            def run():
                began[name] = time.monotonic()
                stopped.wait(30)

            return SimpleNamespace(run=run, stop=stopped.set)

    def load(family, names, specs, context):
        return PluginHost(family, specs, [(name, Noting(context(name))) for name in names])

    monkeypatch.setattr(
        module, "installed", lambda _family: entries("garbagecollector", "horizontalpodautoscaling", "one")
    )
    monkeypatch.setattr(module, "load", load)
    managers = []

    def manager(**given):
        flags = {name.replace("_", "-"): value for name, value in given.items()}
        client = FakeClient(SystemClock())
        made = ControllerManager(client_for=lambda _user: client, options=ManagerOptions.in_process(MANAGER, flags))
        managers.append(made)
        return made

    yield manager, began
    for made in managers:
        made.close()


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({}, ["garbagecollector", "horizontalpodautoscaling", "one"]),
        ({"enable_garbage_collector": False}, ["horizontalpodautoscaling", "one"]),
        ({"enable_horizontal_pod_autoscaler": False}, ["garbagecollector", "one"]),
        ({"enable_garbage_collector": False, "controllers": "garbagecollector,one"}, ["one"]),
    ],
)
def test_single_flags_switch_controllers_off(managing, given, names):
    manager, _ = managing

    assert list(manager(**given).names) == names


def test_controllers_begin_one_after_another(managing):
    manager, began = managing

    manager(controller_start_interval="200ms").start()
    eventually(lambda: len(began) == 3)

    first, second, third = sorted(began.values())
    assert second - first > 0.15
    assert third - second > 0.15
