"""A service's pods stay under one value of a label, or spread over its values."""

import numpy as np
from hyperkube_scheduler.service_affinity import REASON, SERVICE, ServiceAffinity
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import SERVICES
from hyperkube.plugin import PluginContext
from hyperkube.testing.waiting import eventually

WEB = {"app": "web"}


def build(**settings):
    client = FakeClient()
    client.create(SERVICES, {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": WEB}})
    informers = InformerFactory(client)
    informers.start()
    context = PluginContext(name="ServiceAffinity", client=client, informers=informers, settings=settings)
    return ServiceAffinity(context)


def pod(name, **spec):
    meta = {"name": name, "namespace": "default", "uid": name, "labels": WEB}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], **spec}}


def world():
    racks = {"a": "r1", "b": "r1", "c": "r2"}
    nodes = table(*({"name": name, "labels": {"rack": rack}} for name, rack in racks.items()), {"name": "d"})
    nodes.put_pod(pod("first"), "b")
    return nodes


def test_the_first_pods_value_binds_the_others():
    nodes = world()

    result = build(affinityLabels=["rack"]).filter(pod_info(pod("new"), nodes), nodes)

    assert result.mask.tolist() == [True, True, False, False]
    assert result.reasons[REASON].tolist() == [False, False, True, True]


def test_the_pods_own_selector_wins():
    nodes = world()

    result = build(affinityLabels=["rack"]).filter(pod_info(pod("new", nodeSelector={"rack": "r2"}), nodes), nodes)

    assert result.mask.tolist() == [False, False, True, False]


def test_spreading_scores_values_with_fewer_pods_higher():
    nodes, plugin = world(), build(antiAffinityLabelsPreference=["rack"])
    info = pod_info(pod("new"), nodes)

    scores = plugin.normalize(info, nodes, plugin.score(info, nodes), np.ones(4, dtype=bool))

    assert scores.tolist() == [0, 0, 100, 0]


def test_a_change_of_a_service_wakes_the_pods_that_were_refused():
    client = FakeClient()
    informers = InformerFactory(client)
    informers.start()
    settings = {"affinityLabels": ["rack"]}
    plugin = ServiceAffinity(PluginContext(name="x", client=client, informers=informers, settings=settings))
    heard, nodes = [], world()
    plugin.connect(heard.append)
    plugin.filter(pod_info(pod("new"), nodes), nodes)

    client.create(SERVICES, {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": WEB}})

    eventually(lambda: heard == [SERVICE])
    assert SERVICE in plugin.events_to_register
    informers.stop()


class TestContract(SchedulingContract):
    plugin = ServiceAffinity
    nodes = ({"name": "a"}, {"name": "b"})
    pods = (pod("new"),)

    def build(self):
        return build(affinityLabels=["rack"], antiAffinityLabelsPreference=["rack"])

    def world(self):
        nodes = world()
        return nodes, [pod_info(each, nodes) for each in self.pods]
