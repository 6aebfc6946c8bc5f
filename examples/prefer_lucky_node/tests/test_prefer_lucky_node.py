from typing import ClassVar

from hyperkube_testing.scheduling.algorithm_provider import ProviderContract
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from prefer_lucky_node import LuckyProvider, PreferLuckyNode


class TestPlugin(SchedulingContract):
    plugin = PreferLuckyNode
    nodes = ({"name": "a"}, {"name": "b", "labels": {"example.com/luck": "good"}})
    pods = ({"spec": {}},)

    def test_the_lucky_node_wins(self):
        nodes, (pod,) = self.world()

        assert self.build().score(pod, nodes).tolist() == [0, 100]


class TestSettings(SchedulingContract):
    plugin = PreferLuckyNode
    settings: ClassVar = {"label": "shamrock", "value": "4"}
    nodes = ({"name": "a", "labels": {"shamrock": "3"}}, {"name": "b", "labels": {"shamrock": "4"}})
    pods = ({"spec": {}},)


class TestProvider(ProviderContract):
    plugin = LuckyProvider
