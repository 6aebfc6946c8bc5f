"""The promises of a controller plugin, as tests that any third party can run on its own.

Subclass `ControllerContract`, name the plugin, and put a world in `populate` in which it has work to do.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, ClassVar

from hyperkube.hookspecs.base import Plugin
from hyperkube.testing.controller_rig import ControllerRig

_ENDING_SECONDS = 60.0


class ControllerContract:
    """Tests that hold for every controller that is driven by queues.

    Attributes:
        plugin: the plugin class.
        settings: the settings that it needs.
    """

    plugin: ClassVar[type[Plugin]]
    settings: ClassVar[Mapping[str, Any]] = {}

    def populate(self, rig: ControllerRig) -> None:
        """Put objects into the fake world that give the controller something to do."""
        raise NotImplementedError

    def rig(self) -> ControllerRig:
        """Return a populated bench with the plugin on it."""
        rig = ControllerRig(self.plugin, settings=self.settings)
        self.populate(rig)
        return rig

    def test_it_comes_to_rest(self) -> None:
        """A controller must do nothing when the world is as wanted, and must not change cached objects."""
        rig = self.rig()
        rig.settle()
        done = len(rig.client.actions)

        rig.settle()

        assert rig.client.actions[done:] == []

    def test_it_does_its_work(self) -> None:
        """The populated world gives it something to do: else the other tests would prove nothing."""
        rig = self.rig()
        before = len(rig.client.actions)

        rig.settle()

        assert rig.client.actions[before:]

    def test_it_finds_its_work_again_after_a_restart(self) -> None:
        """State lives in the API alone: a second instance on the same world has nothing left to do but tell of it."""
        rig = self.rig()
        rig.settle()
        second = ControllerRig(self.plugin, settings=self.settings)
        second.client.inherit(rig.client)
        before = len(second.client.actions)

        second.settle()

        assert [action for action in second.client.actions[before:] if action[1] != "events"] == []

    def test_it_survives_a_refused_write(self) -> None:
        """A conflict is met by looking again."""
        from hyperkube.machinery.errors import Conflict

        calm = self.rig()
        calm.settle()
        writes = {(verb, resource) for verb, resource, _ in calm.client.actions}
        rig = self.rig()
        for verb, resource in writes:
            rig.client.fail_next(verb, resource, Conflict("the object has been modified"))

        rig.settle()
        for _ in range(10):
            rig.advance(1)

        assert _world(rig) == _world(calm)

    def test_stop_ends_run(self) -> None:
        """`stop` makes `run` return within a second."""
        rig = self.rig()
        threads = [threading.Thread(target=controller.run, daemon=True) for controller in rig.controllers]
        for thread in threads:
            thread.start()

        for controller in rig.controllers:
            controller.stop()

        for thread in threads:
            thread.join(1)
            assert not thread.is_alive()

    def test_one_that_needs_no_thread_of_its_own_ends_as_well(self) -> None:
        """What `begin` began, where there is one, ends after `stop`; and nothing is done that `run` would not do."""
        rig = self.rig()
        rig.settle()
        done = len(rig.client.actions)
        resting: list[Any] = [controller for controller in rig.controllers if hasattr(controller, "begin")]

        for controller in resting:
            controller.begin()
            controller.stop()

        assert all(controller.wait_ended(_ENDING_SECONDS) for controller in resting)
        assert rig.client.actions[done:] == []


def _world(rig: ControllerRig) -> list[str]:
    """Return what kinds of objects are there, how many: names are random."""
    return sorted(
        f"{resource.resource} {obj['metadata'].get('namespace', '')}"
        for resource, objects in rig.client.everything().items()
        if resource.resource != "events"
        for obj in objects
    )
