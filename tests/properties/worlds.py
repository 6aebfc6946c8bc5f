"""Random clusters: nodes, the pods on them, and pods to be scheduled, with all that scheduling plugins look at."""

from __future__ import annotations

import random
from dataclasses import dataclass

HOST, ZONE, DISK = "kubernetes.io/hostname", "topology.kubernetes.io/zone", "disk"
DEVICE = "example.com/device"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
IMAGES = ("registry/a:1", "registry/b:1", "registry/c")
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


@dataclass
class World:
    """Plain objects: what both a plugin and its reference are asked about."""

    nodes: list[dict]
    placed: list[dict]
    pods: list[dict]

    def on(self, node):
        """Return the pods on a node."""
        return [pod for pod in self.placed if pod["spec"]["nodeName"] == node["metadata"]["name"]]


def world(seed: int) -> World:
    """Return the world of a seed."""
    chance = random.Random(seed)
    nodes = [a_node(chance, f"n{index}") for index in range(chance.randrange(1, 11))]
    placed = [
        a_pod(chance, f"placed{index}", chance.choice(nodes)["metadata"]["name"])
        for index in range(chance.randrange(25))
    ]
    return World(nodes, placed, [a_pod(chance, f"new{index}") for index in range(3)])


def a_node(chance: random.Random, name: str) -> dict:
    labels = {}
    if chance.random() < 0.9:
        labels[HOST] = name
    if chance.random() < 0.8:
        labels[ZONE] = chance.choice("ab")
    if chance.random() < 0.6:
        labels[DISK] = chance.choice(["ssd", "10", "20"])
    allocatable = {"cpu": f"{chance.randrange(0, 9) * 500}m", "memory": f"{chance.randrange(0, 9)}Gi", "pods": "6"}
    if chance.random() < 0.5:
        allocatable[DEVICE] = str(chance.randrange(4))
    images = [
        {"names": [image if ":" in image else f"{image}:latest"], "sizeBytes": chance.randrange(1, 2000) * 1024 * 1024}
        for image in IMAGES
        if chance.random() < 0.5
    ]
    taints = {
        (chance.choice("xy"), chance.choice(["", "1", "2"]), chance.choice(EFFECTS))
        for _ in range(chance.choice([0, 0, 1, 2]))
    }
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "unschedulable": chance.random() < 0.1,
            "taints": [{"key": key, "value": value, "effect": effect} for key, value, effect in sorted(taints)],
        },
        "status": {"allocatable": allocatable, "images": images},
    }


def a_pod(chance: random.Random, name: str, on: str = "") -> dict:
    containers = [a_container(chance, index) for index in range(chance.choice([1, 1, 2]))]
    spec: dict = {"containers": containers, "tolerations": tolerations(chance)}
    if on:
        spec["nodeName"] = on
    if chance.random() < 0.3:
        spec["nodeSelector"] = {chance.choice([ZONE, DISK]): chance.choice(["a", "b", "ssd"])}
    affinity = {}
    if chance.random() < 0.4:
        affinity["nodeAffinity"] = node_affinity(chance)
    for kind in ("podAffinity", "podAntiAffinity"):
        if chance.random() < 0.25:
            affinity[kind] = pod_affinity(chance)
    if affinity:
        spec["affinity"] = affinity
    if chance.random() < 0.4:
        spec["topologySpreadConstraints"] = [spread(chance) for _ in range(chance.choice([1, 2]))]
    meta = {
        "name": name,
        "namespace": chance.choice(["default", "default", "other"]),
        "uid": name,
        "labels": {"app": chance.choice("abc"), **({"tier": chance.choice("xy")} if chance.random() < 0.5 else {})},
    }
    if on and chance.random() < 0.1:
        meta["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    return {"metadata": meta, "spec": spec}


def a_container(chance: random.Random, index: int) -> dict:
    requests = {}
    if chance.random() < 0.7:
        requests["cpu"] = f"{chance.randrange(0, 8) * 125}m"
    if chance.random() < 0.7:
        requests["memory"] = f"{chance.randrange(0, 8) * 128}Mi"
    if chance.random() < 0.2:
        requests[DEVICE] = str(chance.randrange(1, 3))
    ports = []
    if chance.random() < 0.2:
        ports = [{"containerPort": 1, "hostPort": chance.choice([80, 81]), "protocol": chance.choice(["TCP", "UDP"])}]
        if chance.random() < 0.5:
            ports[0]["hostIP"] = chance.choice(["0.0.0.0", "10.0.0.1", "10.0.0.2"])
    return {"name": f"c{index}", "image": chance.choice(IMAGES), "resources": {"requests": requests}, "ports": ports}


def tolerations(chance: random.Random) -> list[dict]:
    rows = []
    for _ in range(chance.choice([0, 0, 1, 2])):
        row = {"operator": chance.choice(["Equal", "Exists"])}
        if row["operator"] == "Equal" or chance.random() < 0.7:
            row["key"] = chance.choice("xy")
        if row["operator"] == "Equal":
            row["value"] = chance.choice(["", "1", "2"])
        if chance.random() < 0.6:
            row["effect"] = chance.choice(EFFECTS)
        rows.append(row)
    return rows


def expression(chance: random.Random) -> dict:
    operator = chance.choice(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
    if operator in {"Gt", "Lt"}:
        return {"key": DISK, "operator": operator, "values": ["15"]}
    row = {"key": chance.choice([ZONE, DISK]), "operator": operator}
    if operator in {"In", "NotIn"}:
        row["values"] = chance.sample(["a", "b", "ssd", "10"], chance.randrange(1, 3))
    return row


def node_affinity(chance: random.Random) -> dict:
    def term():
        if chance.random() < 0.1:
            return {}
        return {"matchExpressions": [expression(chance) for _ in range(chance.choice([1, 1, 2]))]}

    rules = {}
    if chance.random() < 0.7:
        rules[REQUIRED] = {"nodeSelectorTerms": [term() for _ in range(chance.choice([1, 2]))]}
    if chance.random() < 0.7:
        rules[PREFERRED] = [{"weight": chance.randrange(1, 100), "preference": term()} for _ in range(2)]
    return rules


def label_selector(chance: random.Random) -> dict:
    if chance.random() < 0.5:
        return {"matchLabels": {"app": chance.choice("abc")}}
    return {"matchExpressions": [{"key": "tier", "operator": chance.choice(["Exists", "DoesNotExist"])}]}


def pod_affinity(chance: random.Random) -> dict:
    def term():
        row = {"labelSelector": label_selector(chance), "topologyKey": chance.choice([HOST, ZONE])}
        if chance.random() < 0.3:
            row["namespaces"] = ["other"]
        return row

    rules = {}
    if chance.random() < 0.6:
        rules[REQUIRED] = [term() for _ in range(chance.choice([1, 1, 2]))]
    if chance.random() < 0.7:
        rules[PREFERRED] = [{"weight": chance.randrange(1, 100), "podAffinityTerm": term()}]
    return rules


def spread(chance: random.Random) -> dict:
    row = {
        "topologyKey": chance.choice([HOST, ZONE]),
        "maxSkew": chance.randrange(1, 3),
        "whenUnsatisfiable": chance.choice(["DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": label_selector(chance),
    }
    if row["whenUnsatisfiable"] == "DoNotSchedule" and chance.random() < 0.3:
        row["minDomains"] = chance.randrange(1, 4)
    for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if chance.random() < 0.3:
            row[field] = chance.choice(["Honor", "Ignore"])
    return row
