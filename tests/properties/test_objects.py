"""The same for plugins that look other objects up: claims, volumes, drivers, services."""

import json
import os
import random
from contextlib import contextmanager

import pytest

pytest.importorskip("numpy")
pytest.importorskip("hyperkube_scheduler.default_provider")

import numpy as np
from hyperkube_host.scheduler.cache.node_table import Nodes
from hyperkube_host.scheduler.cache.pod_info import PreparedPod
from references import labels
from worlds import ZONE, World, a_node, a_pod

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.base import PluginContext
from hyperkube.kinds.resources import (
    CSI_NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    SERVICES,
    STORAGE_CLASSES,
)
from hyperkube.plugin.loader import installed

CLUSTERS = int(os.environ.get("HYPERKUBE_CLUSTERS", "50"))
DRIVER, EBS = "csi.example.com", "attachable-volumes-aws-ebs"
COUNT = 6
AVOID = "scheduler.alpha.kubernetes.io/preferAvoidPods"


class Volumes(World):
    """A world with claims c0 to c5 and what stands behind them."""

    def __init__(self, seed):
        chance = random.Random(seed)
        nodes = [a_node(chance, f"n{index}") for index in range(chance.randrange(1, 7))]
        self.limits = {}
        for node in nodes:
            if chance.random() < 0.7:
                self.limits[node["metadata"]["name"]] = chance.randrange(4)
            node["status"]["allocatable"][EBS] = str(chance.randrange(3))
            if chance.random() < 0.3:
                signature = {"podController": {"kind": "ReplicaSet", "uid": chance.choice("uv")}}
                avoid = {"preferAvoidPods": [{"podSignature": signature}]}
                node["metadata"]["annotations"] = {AVOID: json.dumps(avoid)}
        self.volumes = {f"pv{index}": a_volume(chance, f"pv{index}") for index in range(COUNT)}
        self.claims = {
            name: claim for index in range(COUNT) if (claim := a_claim(chance, index)) for name in [f"c{index}"]
        }
        placed = [self.pod(chance, f"placed{index}", chance.choice(nodes)) for index in range(chance.randrange(12))]
        super().__init__(nodes, placed, [self.pod(chance, f"new{index}") for index in range(3)])

    def pod(self, chance, name, node=None):
        made = a_pod(chance, name, node["metadata"]["name"] if node else "")
        made["metadata"]["namespace"] = "default"
        made["metadata"]["ownerReferences"] = [
            {"kind": "ReplicaSet", "uid": chance.choice("uvw"), "name": "x", "controller": True}
        ]
        rows = []
        for number in range(chance.choice([0, 1, 1, 2])):
            kind = chance.choice(["claim", "claim", "gce", "ebs", "empty"])
            if kind == "claim":
                row = {"persistentVolumeClaim": {"claimName": f"c{chance.randrange(COUNT)}"}}
            elif kind == "gce":
                row = {"gcePersistentDisk": {"pdName": chance.choice("pq"), "readOnly": chance.random() < 0.5}}
            elif kind == "ebs":
                row = {"awsElasticBlockStore": {"volumeID": chance.choice("rs")}}
            else:
                row = {"emptyDir": {}}
            rows.append({"name": f"v{number}", **row})
        made["spec"]["volumes"] = rows
        return made

    def bound(self, pod):
        """Return the volumes of the pod's bound claims."""
        for row in pod["spec"]["volumes"]:
            claim = self.claims.get(row.get("persistentVolumeClaim", {}).get("claimName"))
            if claim and claim["spec"].get("volumeName"):
                yield self.volumes[claim["spec"]["volumeName"]]

    @contextmanager
    def plugin(self, name):
        """Yield the plugin, which can look everything up, and the table."""
        client = FakeClient()
        client.seed(PERSISTENT_VOLUMES, *self.volumes.values())
        client.seed(PERSISTENT_VOLUME_CLAIMS, *self.claims.values())
        classes = {"now": "Immediate", "late": "WaitForFirstConsumer"}
        for each, mode in classes.items():
            client.seed(STORAGE_CLASSES, {"metadata": {"name": each}, "provisioner": DRIVER, "volumeBindingMode": mode})
        for node, limit in self.limits.items():
            drivers = [{"name": DRIVER, "allocatable": {"count": limit}}]
            client.seed(CSI_NODES, {"metadata": {"name": node}, "spec": {"drivers": drivers}})
        client.seed(SERVICES, {"metadata": {"name": "a", "namespace": "default"}, "spec": {"selector": {"app": "a"}}})
        informers = InformerFactory(client)
        informers.start()
        nodes = Nodes()
        for node in self.nodes:
            nodes.put_node(node)
        for pod in self.placed:
            nodes.put_pod(pod, pod["spec"]["nodeName"])
        plugin = installed("scheduler")[name].load()(PluginContext(name=name, client=client, informers=informers))
        plugin.connect(lambda _change: None)
        try:
            yield plugin, nodes
        finally:
            informers.stop()


def a_volume(chance, name):
    spec = {"csi": {"driver": DRIVER, "volumeHandle": name}}
    if chance.random() < 0.4:
        spec = {"awsElasticBlockStore": {"volumeID": f"disk-{name}"}}
    if chance.random() < 0.4:
        row = {"key": ZONE, "operator": "In", "values": [chance.choice("ab")]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [row]}]}}
    marks = {ZONE: chance.choice(["a", "b", "a__b"])} if chance.random() < 0.5 else {}
    return {"metadata": {"name": name, "labels": marks}, "spec": spec}


def a_claim(chance, index):
    kind = chance.choice(["bound"] * 6 + ["now", "late", None])
    if kind is None:
        return None
    modes = ["ReadWriteOncePod"] if chance.random() < 0.3 else ["ReadWriteOnce"]
    spec = {"accessModes": modes, "storageClassName": "now" if kind == "now" else "late"}
    meta = {"name": f"c{index}", "namespace": "default", "uid": f"claim-{index}"}
    if kind == "bound":
        spec["volumeName"] = f"pv{index}"
        meta["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    return {"metadata": meta, "spec": spec}


def claim_names(pod):
    return [
        row["persistentVolumeClaim"]["claimName"] for row in pod["spec"]["volumes"] if "persistentVolumeClaim" in row
    ]


def zone(world, pod, node):
    for name in claim_names(pod):
        if name not in world.claims:
            return [f'persistentvolumeclaim "{name}" not found']
        if world.claims[name]["spec"]["storageClassName"] == "now":
            return ["PersistentVolume had no name"]
    here = {key: value for key, value in labels(node).items() if key == ZONE}
    for volume in world.bound(pod):
        wanted = labels(volume).get(ZONE)
        if wanted and here and here[ZONE] not in wanted.split("__"):
            return ["node(s) had no available volume zone"]
    return []


def same_disk(one, other):
    if "awsElasticBlockStore" in one and "awsElasticBlockStore" in other:
        return one["awsElasticBlockStore"]["volumeID"] == other["awsElasticBlockStore"]["volumeID"]
    if "gcePersistentDisk" in one and "gcePersistentDisk" in other:
        mine, theirs = one["gcePersistentDisk"], other["gcePersistentDisk"]
        return mine["pdName"] == theirs["pdName"] and not (mine["readOnly"] and theirs["readOnly"])
    return False


def restrictions(world, pod, node):
    for other in world.on(node):
        if any(same_disk(one, two) for one in pod["spec"]["volumes"] for two in other["spec"]["volumes"]):
            return ["node(s) had no available disk"]
    once = [
        name
        for name in claim_names(pod)
        if name in world.claims and "ReadWriteOncePod" in world.claims[name]["spec"]["accessModes"]
    ]
    if any(name in claim_names(other) for other in world.placed for name in once):
        mode = "ReadWriteOncePod access mode"
        return [f"node(s) unavailable due to PersistentVolumeClaim with {mode} already in-use by another pod"]
    return []


def handles(world, pod):
    """Return what the pod attaches through the driver: a volume, or a claim whose volume is still to be made."""
    found = set()
    for name in claim_names(pod):
        claim = world.claims.get(name)
        if claim is None:
            continue
        if "volumeName" not in claim["spec"]:
            found.add(f"claim {name}")
        elif "csi" in world.volumes[claim["spec"]["volumeName"]]["spec"]:
            found.add(claim["spec"]["volumeName"])
    return found


def csi_limits(world, pod, node):
    for name in claim_names(pod):
        if name not in world.claims:
            return [f'looking up PVC default/{name}: persistentvolumeclaim "{name}" not found']
    limit = world.limits.get(node["metadata"]["name"])
    there = set().union(*(handles(world, other) for other in world.on(node)), set())
    new = handles(world, pod) - there
    if limit is not None and new and len(there) + len(new) > limit:
        return ["node(s) exceed max volume count"]
    return []


def ebs_limits(world, pod, node):
    def disks(each):
        direct = {
            row["awsElasticBlockStore"]["volumeID"] for row in each["spec"]["volumes"] if "awsElasticBlockStore" in row
        }
        behind = {volume["spec"].get("awsElasticBlockStore", {}).get("volumeID") for volume in world.bound(each)}
        return (direct | behind) - {None}

    missing = [name for name in claim_names(pod) if name not in world.claims]
    if missing:
        return [f'looking up PVC default/{missing[0]}: persistentvolumeclaim "{missing[0]}" not found']
    there = set().union(*(disks(other) for other in world.on(node)), disks(pod))
    if disks(pod) and len(there) > int(node["status"]["allocatable"][EBS]):
        return ["node(s) exceed max volume count"]
    return []


def binding(world, pod, node):
    for name in claim_names(pod):
        if name not in world.claims:
            return [f'persistentvolumeclaim "{name}" not found']
    for name in claim_names(pod):
        spec = world.claims[name]["spec"]
        if "volumeName" not in spec and spec["storageClassName"] == "now":
            return ["pod has unbound immediate PersistentVolumeClaims"]
    for volume in world.bound(pod):
        rule = volume["spec"].get("nodeAffinity")
        if (
            rule
            and labels(node).get(ZONE) not in rule["required"]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"]
        ):
            return ["node(s) had volume node affinity conflict"]
    return []


FILTERS = {
    "VolumeZone": zone,
    "VolumeRestrictions": restrictions,
    "NodeVolumeLimits": csi_limits,
    "EBSLimits": ebs_limits,
    "VolumeBinding": binding,
}


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_refuses_what_the_plain_one_refuses_for_its_reasons(name):
    reference, refused = FILTERS[name], 0
    for seed in range(CLUSTERS):
        world = Volumes(seed)
        with world.plugin(name) as (plugin, nodes):
            for pod in world.pods:
                expected = {node["metadata"]["name"]: reference(world, pod, node) for node in world.nodes}
                info = PreparedPod.of(pod, nodes)
                answer = None if plugin.skips_filter(info, nodes) else plugin.filter(info, nodes)
                got = {
                    each: [text for text, mask in answer.reasons.items() if mask[index]] if answer is not None else []
                    for index, each in enumerate(nodes.names)
                }

                assert got == expected, f"world {seed}"
                assert answer is None or [not got[each] for each in nodes.names] == answer.mask.tolist()
                refused += any(expected.values())

    assert refused


def spread_score(world, pod, feasible):
    if pod["spec"].get("topologySpreadConstraints") or labels(pod).get("app") != "a":
        return None
    counts = {
        node["metadata"]["name"]: sum(
            1
            for other in world.on(node)
            if labels(other).get("app") == "a" and "deletionTimestamp" not in other["metadata"]
        )
        for node in feasible
    }
    zones = {}
    for node in feasible:
        if ZONE in labels(node):
            zones[labels(node)[ZONE]] = zones.get(labels(node)[ZONE], 0) + counts[node["metadata"]["name"]]
    most, most_in_zone = max(counts.values()), max(zones.values(), default=0)
    scores = {}
    for node in feasible:
        name, score = node["metadata"]["name"], 100.0
        if most:
            score = 100 * (most - counts[name]) / most
        if ZONE in labels(node):
            by_zone = 100 * (most_in_zone - zones[labels(node)[ZONE]]) / most_in_zone if most_in_zone else 100.0
            score = score * (1 - 2 / 3) + 2 / 3 * by_zone
        scores[name] = int(min(score, 100))
    return scores


def avoid_score(world, pod, feasible):
    def avoids(node):
        text = node["metadata"].get("annotations", {}).get(AVOID)
        rows = json.loads(text)["preferAvoidPods"] if text else []
        return pod["metadata"]["ownerReferences"][0]["uid"] in {
            row["podSignature"]["podController"]["uid"] for row in rows
        }

    return {node["metadata"]["name"]: 0 if avoids(node) else 100 for node in feasible}


SCORES = {"SelectorSpread": spread_score, "NodePreferAvoidPods": avoid_score}


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_the_plain_ones(name):
    reference, told_apart = SCORES[name], 0
    for seed in range(CLUSTERS):
        world = Volumes(seed)
        with world.plugin(name) as (plugin, nodes):
            for number, pod in enumerate(world.pods):
                feasible = np.array([(seed + number + index) % 3 != 0 for index in range(len(nodes))])
                kept = [node for index, node in enumerate(world.nodes) if feasible[index]]
                info = PreparedPod.of(pod, nodes)
                if not kept or plugin.skips_score(info, nodes):
                    assert not kept or reference(world, pod, kept) is None
                    continue
                scores = plugin.normalize(info, nodes, plugin.score(info, nodes), feasible)

                got = {each: int(scores[index]) for index, each in enumerate(nodes.names) if feasible[index]}
                assert got == reference(world, pod, kept), f"world {seed}"
                told_apart += len(set(got.values())) > 1

    assert told_apart
