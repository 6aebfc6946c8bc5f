"""The set names plugins that exist and carries its own name."""

from hyperkube_scheduler.default_provider import DefaultProvider
from hyperkube_testing.scheduling.algorithm_provider import ProviderContract

from hyperkube.plugin import PluginContext


def test_it_offers_one_set_under_its_own_name():
    (provider,) = DefaultProvider(PluginContext(name="DefaultProvider")).scheduling_providers()

    assert provider.name == "DefaultProvider"
    assert "NodeResourcesFit" in provider.scores
    assert all(weight > 0 for weight in provider.scores.values())
    assert len(provider.plugin_names()) == len(set(provider.plugin_names()))


def test_a_gate_adds_gangs():
    context = PluginContext(name="DefaultProvider", gates={"GangScheduling": True})
    (provider,) = DefaultProvider(context).scheduling_providers()

    assert provider.permits == ("GangScheduling",)
    assert provider.post_filters == ("DynamicResources", "DefaultPreemption")


def test_a_gate_adds_scores_by_storage():
    context = PluginContext(name="DefaultProvider", gates={"StorageCapacityScoring": True})
    (provider,) = DefaultProvider(context).scheduling_providers()

    assert provider.scores["VolumeBinding"] == 1


class TestContract(ProviderContract):
    plugin = DefaultProvider


def test_a_gate_adds_placements():
    context = PluginContext(name="DefaultProvider", gates={"TopologyAwareWorkloadScheduling": True})
    (provider,) = DefaultProvider(context).scheduling_providers()

    assert provider.placement_generators == ("TopologyPlacementGenerator",)
    assert provider.placement_scores == {"PodGroupPodsCount": 1}
    assert provider.permits == ()
