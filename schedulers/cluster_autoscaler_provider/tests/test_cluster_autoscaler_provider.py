"""The set names plugins that exist and carries its own name."""

from hyperkube_scheduler.cluster_autoscaler_provider import ClusterAutoscalerProvider
from hyperkube_testing.scheduling.algorithm_provider import ProviderContract

from hyperkube.plugin import PluginContext


def test_it_offers_one_set_under_its_own_name():
    (provider,) = ClusterAutoscalerProvider(PluginContext(name="ClusterAutoscalerProvider")).scheduling_providers()

    assert provider.name == "ClusterAutoscalerProvider"
    assert "NodeResourcesMostAllocated" in provider.scores
    assert all(weight > 0 for weight in provider.scores.values())
    assert len(provider.plugin_names()) == len(set(provider.plugin_names()))


def test_a_gate_adds_gangs():
    context = PluginContext(name="ClusterAutoscalerProvider", gates={"GangScheduling": True})
    (provider,) = ClusterAutoscalerProvider(context).scheduling_providers()

    assert provider.permits == ("GangScheduling",)
    assert provider.post_filters == ("DynamicResources", "DefaultPreemption")


class TestContract(ProviderContract):
    plugin = ClusterAutoscalerProvider
