# ruff: noqa: D102 - tests, whose names are their docstrings
"""What every algorithm provider promises: subclass `ProviderContract` and name the plugin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from hyperkube.hookspecs import scheduling as specs
from hyperkube.hookspecs.base import Plugin, PluginContext
from hyperkube.hookspecs.scheduling import AlgorithmProvider, SchedulingHooks
from hyperkube.plugin.loader import PluginHost


class ProviderContract:
    """The promises of an algorithm provider.

    Attributes:
        plugin: the plugin class; its name is the provider's.
    """

    plugin: ClassVar[type[Plugin]]

    def providers(self) -> Sequence[AlgorithmProvider]:
        """Return the sets it offers."""
        built = self.plugin(PluginContext(name=self.plugin.__name__))
        host: PluginHost[SchedulingHooks] = PluginHost("scheduler", specs, [(built.context.name, built)])
        return host.hook.scheduling_providers()[0]

    def test_it_offers_a_set_under_its_own_name(self) -> None:
        assert self.plugin.__name__ in [provider.name for provider in self.providers()]

    def test_each_set_can_order_and_bind(self) -> None:
        for provider in self.providers():
            assert provider.queue_sort
            assert provider.binds

    def test_weights_are_positive(self) -> None:
        for provider in self.providers():
            assert all(weight > 0 for weight in provider.scores.values())

    def test_settings_are_for_plugins_of_the_set(self) -> None:
        for provider in self.providers():
            assert set(provider.settings) <= set(provider.plugin_names())
