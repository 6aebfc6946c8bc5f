"""So many disks a machine, each counted once."""

import pytest
from hyperkube_scheduler.cloud_volume_limits import (
    LIMIT_VARIABLE,
    REASON,
    AzureDiskLimits,
    CinderLimits,
    EBSLimits,
    GCEPDLimits,
)
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.plugin import PluginContext


def disk(plugin, name):
    return {"name": name, plugin.source: {plugin.id_field: name}}


def pod(name, *volumes):
    meta = {"name": name, "namespace": "default", "uid": name}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], "volumes": list(volumes)}}


def build(plugin):
    return plugin(PluginContext(name=plugin.__name__))


@pytest.mark.parametrize("plugin", [EBSLimits, GCEPDLimits, AzureDiskLimits, CinderLimits])
def test_a_full_machine_is_refused_but_not_for_a_disk_it_has(plugin):
    nodes = table({"name": "full"}, {"name": "free"})
    nodes.put_pod(pod("holder", *(disk(plugin, f"d{index}") for index in range(plugin.usual))), "full")

    new = build(plugin).filter(pod_info(pod("new", disk(plugin, "more")), nodes), nodes)
    known = build(plugin).filter(pod_info(pod("new", disk(plugin, "d0")), nodes), nodes)

    assert new.mask.tolist() == [False, True]
    assert new.reasons[REASON].tolist() == [True, False]
    assert known.mask.all()


def test_a_nodes_own_limit_wins():
    nodes = table({"name": "a", "attachable-volumes-aws-ebs": "1"})
    nodes.put_pod(pod("holder", disk(EBSLimits, "one")), "a")

    assert not build(EBSLimits).filter(pod_info(pod("new", disk(EBSLimits, "two")), nodes), nodes).mask.any()


def test_the_environment_overrides_the_usual_limit(monkeypatch):
    monkeypatch.setenv(LIMIT_VARIABLE, "1")
    nodes = table({"name": "a"})
    nodes.put_pod(pod("holder", disk(GCEPDLimits, "one")), "a")

    assert not build(GCEPDLimits).filter(pod_info(pod("new", disk(GCEPDLimits, "two")), nodes), nodes).mask.any()


class TestContract(SchedulingContract):
    plugin = EBSLimits
    nodes = ({"name": "a", "attachable-volumes-aws-ebs": "1"}, {"name": "b"})
    pods = (pod("new", disk(EBSLimits, "two")),)

    def world(self):
        nodes, pods = super().world()
        nodes.put_pod(pod("holder", disk(EBSLimits, "one")), "a")
        return nodes, pods
