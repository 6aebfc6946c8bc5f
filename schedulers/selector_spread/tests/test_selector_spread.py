"""Like pods go to other nodes, and above all to other zones."""

import numpy as np
import pytest
from hyperkube_scheduler.selector_spread import SelectorSpread
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import SERVICES
from hyperkube.plugin import PluginContext

WEB = {"app": "web"}
ZONE = "topology.kubernetes.io/zone"


def build():
    client = FakeClient()
    client.create(SERVICES, {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": WEB}})
    informers = InformerFactory(client)
    informers.start()
    return SelectorSpread(PluginContext(name="SelectorSpread", client=client, informers=informers))


def pod(name, labels=None):
    meta = {"name": name, "namespace": "default", "uid": name, "labels": WEB if labels is None else labels}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}]}}


def world(zones, counts):
    nodes = table(*({"name": f"n{i}", "labels": {ZONE: zone} if zone else {}} for i, zone in enumerate(zones)))
    for index, count in enumerate(counts):
        for number in range(count):
            nodes.put_pod(pod(f"p{index}-{number}"), f"n{index}")
    return nodes


@pytest.mark.parametrize(
    ("zones", "counts", "scores"),
    [
        pytest.param(("", ""), (2, 1), [0, 50], id="nodes"),
        pytest.param(("", ""), (0, 0), [100, 100], id="none-yet"),
        pytest.param(("z1", "z1", "z2"), (1, 0, 0), [0, 33, 100], id="zones-count-more"),
    ],
)
def test_fewer_like_pods_score_higher(zones, counts, scores):
    nodes, plugin = world(zones, counts), build()
    info = pod_info(pod("new"), nodes)

    assert plugin.normalize(info, nodes, plugin.score(info, nodes), np.ones(len(nodes), dtype=bool)).tolist() == scores


def test_pods_that_belong_to_nothing_are_left_to_others():
    nodes = world(("",), (1,))

    assert build().skips_score(pod_info(pod("new", {}), nodes), nodes)


class TestContract(SchedulingContract):
    plugin = SelectorSpread
    nodes = ({"name": "a"}, {"name": "b"})
    pods = (pod("new"),)

    def build(self):
        return build()

    def world(self):
        nodes = world(("", ""), (1, 0))
        return nodes, [pod_info(each, nodes) for each in self.pods]
