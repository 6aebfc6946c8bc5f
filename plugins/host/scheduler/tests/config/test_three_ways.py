"""One set of plugins, written in three ways and read from files by the flags: the same nodes, pod after pod."""

import random

import orjson
import pytest

pytest.importorskip("numpy")
pytest.importorskip("hyperkube_scheduler.default_provider")

from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.cache.pod_info import PreparedPod
from hyperkube_host.scheduler.config.configuration import POINTS, from_object
from hyperkube_host.scheduler.config.sources import Source
from hyperkube_host.scheduler.framework.algorithm import Algorithm
from hyperkube_host.scheduler.framework.runtime import new_framework
from hyperkube_host.scheduler.options import SchedulerOptions
from hyperkube_scheduler.default_provider import PROVIDER
from hyperkube_testing.scheduling.tables import node

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.machinery.clock import FakeClock

NODES, PODS = 50, 150
ZONE = "topology.kubernetes.io/zone"
POLICY = {
    "kind": "Policy",
    "apiVersion": "v1",
    "predicates": [
        {"name": name}
        for name in (
            "CheckNodeUnschedulable", "GeneralPredicates", "PodToleratesNodeTaints", "NoDiskConflict",
            "MaxCSIVolumeCountPred", "CheckVolumeBinding", "NoVolumeZoneConflict", "EvenPodsSpread",
            "MatchInterPodAffinity",
        )
    ],
    "priorities": [
        {"name": "TaintTolerationPriority", "weight": 3},
        {"name": "NodeAffinityPriority", "weight": 2},
        {"name": "EvenPodsSpreadPriority", "weight": 2},
        {"name": "InterPodAffinityPriority", "weight": 2},
        {"name": "LeastRequestedPriority", "weight": 1},
        {"name": "BalancedResourceAllocation", "weight": 1},
        {"name": "ImageLocalityPriority", "weight": 1},
    ],
}  # fmt: skip


class First:
    """Chance that always takes the first of equals."""

    def randrange(self, _count):
        return 0


def configuration(version):
    """Return the default provider's set, every plugin named at its points."""
    plugins = {}
    for point, (attribute, _) in POINTS.items():
        value = getattr(PROVIDER, attribute)
        names = (value,) if isinstance(value, str) else value
        rows = [{"name": name, **({"weight": value[name]} if point == "score" else {})} for name in names]
        plugins[point] = {"disabled": [{"name": "*"}], "enabled": rows}
    header = {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration"}
    return {**header, "profiles": [{"schedulerName": "default-scheduler", "plugins": plugins}]}


def options_for(way, folder):
    path = folder / way
    if way == "policy":
        path.write_bytes(orjson.dumps(POLICY))
        return {"policy-config-file": str(path)}
    if way.startswith("v1"):
        path.write_bytes(orjson.dumps(configuration(way)))
        return {"config": str(path)}
    return {"algorithm-provider": "DefaultProvider"}


def a_node(chance, name):
    labels = {ZONE: f"z{chance.randrange(3)}", "kubernetes.io/hostname": name, "disk": chance.choice(["ssd", "hdd"])}
    effects = ["NoSchedule", "PreferNoSchedule"]
    taints = [{"key": "dedicated", "value": "x", "effect": chance.choice(effects)}] if chance.random() < 0.3 else []
    made = node(
        name, labels=labels, taints=taints, cpu=str(chance.randrange(2, 9)), memory=f"{chance.randrange(4, 17)}Gi",
        unschedulable=chance.random() < 0.05,
    )  # fmt: skip
    if chance.random() < 0.3:
        made["status"]["images"] = [{"names": ["registry/app:1"], "sizeBytes": 500 * 1024 * 1024}]
    return made


def a_pod(chance, number):
    app = f"app{chance.randrange(6)}"
    requests = {"cpu": f"{chance.randrange(1, 16) * 100}m", "memory": f"{chance.randrange(1, 16) * 128}Mi"}
    container = {"name": "c", "image": "registry/app:1", "resources": {"requests": requests}}
    spec = {"containers": [container]}
    selector = {"labelSelector": {"matchLabels": {"app": app}}}
    kind = chance.randrange(7)
    if kind == 0:
        spec["nodeSelector"] = {"disk": "ssd"}
    elif kind == 1:
        term = {**selector, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    elif kind == 2:
        wish = {"weight": 50, "podAffinityTerm": {**selector, "topologyKey": ZONE}}
        spec["affinity"] = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}}
    elif kind == 3:
        rule = chance.choice(["DoNotSchedule", "ScheduleAnyway"])
        constraint = {**selector, "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": rule}
        spec["topologySpreadConstraints"] = [constraint]
    elif kind == 4:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    elif kind == 5:
        container["ports"] = [{"containerPort": 80, "hostPort": 8000 + chance.randrange(3)}]
    else:
        ssd = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
        wish = {"weight": 10, "preference": ssd}
        spec["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}}
    meta = {"name": f"p{number}", "namespace": "default", "uid": str(number), "labels": {"app": app}}
    return {"metadata": meta, "spec": spec}


def placements(way, folder, *, afresh=False):
    """Return the nodes of all pods, in turn; `afresh` asks all plugins about all nodes each time."""
    client, chance, cache = FakeClient(), random.Random(7), SchedulerCache()
    provider = (
        Source(SchedulerOptions.in_process(options_for(way, folder)).configuration, client)
        .read()
        .profiles["default-scheduler"]
    )
    informers = InformerFactory(client)
    informers.start()
    built = new_framework(provider, client=client, informers=informers, clock=FakeClock(), options={}, gates={})
    algorithm = Algorithm(built.filters, built.scores, First())
    for index in range(NODES):
        cache.put_node(a_node(chance, f"n{index}"))
    chosen = []
    for number in range(PODS):
        info = PreparedPod.of(a_pod(chance, number), cache.table())
        if afresh:
            algorithm = Algorithm(built.filters, built.scores, First())
        where = algorithm.schedule(info, cache.table()).node
        chosen.append(where)
        if where is not None:
            cache.assume(info, where)
    informers.stop()
    return chosen


def test_fifty_nodes_get_the_same_pods_whichever_way_the_set_is_written(tmp_path):
    usual = placements("provider", tmp_path)

    assert {way: placements(way, tmp_path) for way in ("policy", "v1", "v1beta3")} == dict.fromkeys(
        ("policy", "v1", "v1beta3"), usual
    )
    assert len(set(usual)) > 25


def test_the_written_configuration_is_the_provider_itself():
    read = from_object(
        configuration("v1"), PROVIDER, lambda _name: type("Any", tuple(row[1] for row in POINTS.values()), {})
    )

    provider = read.profiles["default-scheduler"]
    assert (provider.filters, dict(provider.scores)) == (PROVIDER.filters, dict(PROVIDER.scores))


def test_another_set_chooses_other_nodes(tmp_path, monkeypatch):
    usual = placements("policy", tmp_path)
    monkeypatch.setitem(POLICY, "priorities", [{"name": "MostRequestedPriority", "weight": 1}])

    assert placements("policy", tmp_path) != usual


OLD = [
    "LeastRequestedPriority", "BalancedResourceAllocation", "SelectorSpreadPriority", "EvenPodsSpreadPriority",
    "InterPodAffinityPriority", "NodeAffinityPriority", "TaintTolerationPriority", "ImageLocalityPriority",
    "NodePreferAvoidPodsPriority", "RequestedToCapacityRatioPriority", "ResourceLimitsPriority", "EqualPriority",
]  # fmt: skip


@pytest.mark.parametrize("named", [OLD, None], ids=["named", "usual"])
def test_the_numbers_of_1_x_place_pods_otherwise_and_are_kept_rightly(tmp_path, monkeypatch, named):
    custom = {"name": "zones", "weight": 3, "argument": {"serviceAntiAffinity": {"label": ZONE}}}
    rows = None if named is None else [*({"name": name, "weight": 2} for name in named), custom]
    usual = placements("policy", tmp_path)
    monkeypatch.setitem(POLICY, "priorities", rows)
    monkeypatch.setitem(POLICY, "scoreScale", 10)

    old = placements("policy", tmp_path)

    assert old == placements("policy", tmp_path, afresh=True)
    assert old != usual
    assert len(set(old)) > 25
