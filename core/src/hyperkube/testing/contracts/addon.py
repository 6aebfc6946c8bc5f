# ruff: noqa: D102 - tests, whose names are their docstrings
"""What every addon promises: subclass `AddonContract` and build the plugin."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import ClassVar

from hyperkube.hookspecs.base import Plugin
from hyperkube.machinery.objects import Object

END_SECONDS = 5.0


class AddonContract:
    """The promises of `hyperkube.hookspecs.addon`, as tests.

    Attributes:
        serves: whether it serves something from within the cluster's process.
    """

    serves: ClassVar[bool] = False

    def build(self) -> Plugin:
        """Return a new instance of the plugin with the same settings each time; the test closes it."""
        raise NotImplementedError

    def objects(self, built: Plugin) -> Sequence[Object]:
        """Call the hook; nothing if the plugin leaves it out."""
        call = getattr(built, "addon_objects", None)
        return list(call()) if call else []

    def test_it_consists_of_objects_or_serves(self) -> None:
        built = self.build()

        try:
            assert self.objects(built) or self.serves
            assert hasattr(built, "addon_start") or not self.serves
        finally:
            built.close()

    def test_its_objects_are_complete(self) -> None:
        built = self.build()

        try:
            for obj in self.objects(built):
                assert obj["apiVersion"]
                assert obj["kind"]
                assert obj["metadata"]["name"]
        finally:
            built.close()

    def test_namespaces_come_first(self) -> None:
        built = self.build()

        try:
            kinds = [obj["kind"] == "Namespace" for obj in self.objects(built)]
            assert kinds == sorted(kinds, reverse=True)
        finally:
            built.close()

    def test_the_same_settings_give_the_same_objects(self) -> None:
        first, second = self.build(), self.build()

        try:
            assert self.objects(first) == self.objects(first) == self.objects(second)
        finally:
            first.close()
            second.close()

    def test_what_it_serves_ends_when_it_is_closed(self) -> None:
        built = self.build()
        call = getattr(built, "addon_start", None)
        if call is None:
            built.close()
            return
        thread = threading.Thread(target=call, daemon=True)
        thread.start()

        built.close()

        thread.join(END_SECONDS)
        assert not thread.is_alive()
