"""A driver's limit counts distinct volumes, those that are to be made too."""

from hyperkube_scheduler.node_volume_limits import REASON, NodeVolumeLimits
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import CSI_NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, VOLUME_ATTACHMENTS
from hyperkube.plugin import PluginContext


def build(limit=1):
    client = FakeClient()
    drivers = [{"name": "csi.example.com", "allocatable": {"count": limit}}]
    client.create(CSI_NODES, {"metadata": {"name": "a"}, "spec": {"drivers": drivers}})
    for name in ("one", "two"):
        csi = {"driver": "csi.example.com", "volumeHandle": name}
        client.create(PERSISTENT_VOLUMES, {"metadata": {"name": f"pv-{name}"}, "spec": {"csi": csi}})
        claim = {"metadata": {"name": name, "namespace": "default"}, "spec": {"volumeName": f"pv-{name}"}}
        client.create(PERSISTENT_VOLUME_CLAIMS, claim)
    informers = InformerFactory(client)
    informers.start()
    plugin = NodeVolumeLimits(PluginContext(name="NodeVolumeLimits", client=client, informers=informers))
    plugin.connect(lambda _change: None)
    return plugin


def pod(name, claim):
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]
    meta = {"name": name, "namespace": "default", "uid": name}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], "volumes": volumes}}


def world():
    nodes = table({"name": "a"}, {"name": "b"})
    nodes.put_pod(pod("holder", "one"), "a")
    return nodes


def test_one_volume_too_many_is_refused():
    nodes = world()

    result = build().filter(pod_info(pod("new", "two"), nodes), nodes)

    assert result.mask.tolist() == [False, True]
    assert result.reasons[REASON].tolist() == [True, False]


def test_a_volume_that_is_there_already_counts_once():
    nodes = world()

    assert build().filter(pod_info(pod("new", "one"), nodes), nodes).mask.all()


def test_what_is_still_attached_for_a_pod_that_went_counts():
    nodes = table({"name": "a"}, {"name": "b"})
    plugin = build()
    for name, node, attacher in (("x", "b", "csi.example.com"), ("y", "a", "other.example.com")):
        source = {"persistentVolumeName": "pv-one"}
        spec = {"attacher": attacher, "nodeName": node, "source": source}
        plugin.context.client.create(VOLUME_ATTACHMENTS, {"metadata": {"name": name}, "spec": spec})
    free = plugin.filter(pod_info(pod("new", "two"), nodes), nodes).mask.tolist()
    spec = {"attacher": "csi.example.com", "nodeName": "a", "source": {"persistentVolumeName": "pv-one"}}

    late = build()
    late.context.client.create(VOLUME_ATTACHMENTS, {"metadata": {"name": "z"}, "spec": spec})

    assert free == [True, True]
    assert late.filter(pod_info(pod("new", "two"), nodes), nodes).mask.tolist() == [False, True]
    assert late.filter(pod_info(pod("new", "one"), nodes), nodes).mask.tolist() == [False, True]


def test_room_is_left():
    nodes = world()

    assert build(limit=2).filter(pod_info(pod("new", "two"), nodes), nodes).mask.all()


class TestContract(SchedulingContract):
    plugin = NodeVolumeLimits
    nodes = ({"name": "a"}, {"name": "b"})
    pods = (pod("new", "two"),)

    def build(self):
        return build()

    def world(self):
        nodes = world()
        return nodes, [pod_info(each, nodes) for each in self.pods]
