"""The priorities of 1.x and service affinity once more, node by node and in plain words; no arrays.

A score returns one number per node to choose from; a filter returns the reasons against a node.
"""

from __future__ import annotations

import itertools
import json

from references import (
    ASSUMED,
    allocatable,
    amount,
    chosen,
    home,
    labels,
    matches_node_affinity,
    matches_term,
    requested,
    requests,
    rules,
    selects,
    together,
    tolerated,
)
from worlds import PREFERRED, REQUIRED

AVOID = "scheduler.alpha.kubernetes.io/preferAvoidPods"
ZONES = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
REGIONS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
LIKES = (("disk", True, 2), ("kubernetes.io/hostname", False, 3))
APART = (("disk", 2), ("topology.kubernetes.io/zone", 1))
TOGETHER = ("disk", "topology.kubernetes.io/zone")
SHAPE = ((0, 2), (40, 10), (100, 1))
MEBIBYTE = 2**20


def name_of(node):
    return node["metadata"]["name"]


def by_node(nodes, score):
    return {name_of(node): score(node) for node in nodes}


# Resources


def asked(world, pod, node):
    """Return (asked with the pod there, allocatable) of cpu and of memory."""
    there, wanted = requested(world.on(node), ASSUMED), requests(pod, ASSUMED)
    return [(there.get(each, 0) + wanted[each], allocatable(node, each)) for each in ("cpu", "memory")]


def least(world, pod, feasible):
    def share(much, has):
        return (has - much) * 10 // has if has and much <= has else 0

    return by_node(feasible, lambda node: sum(share(*each) for each in asked(world, pod, node)) // 2)


def most(world, pod, feasible):
    def share(much, has):
        return much * 10 // has if has and much <= has else 0

    return by_node(feasible, lambda node: sum(share(*each) for each in asked(world, pod, node)) // 2)


def balanced(world, pod, feasible):
    def score(node):
        cpu, memory = (much / has if has else 1 for much, has in asked(world, pod, node))
        return 0 if cpu >= 1 or memory >= 1 else int((1 - abs(cpu - memory)) * 10)

    return by_node(feasible, score)


def ratio(world, pod, feasible):
    def height(used):
        for (left, low), (right, high) in itertools.pairwise(SHAPE):
            if used <= right:
                return low + int((high - low) * (used - left) / (right - left))
        return SHAPE[-1][1]

    def used(much, has):
        return 100 if not has or much > has else 100 - (has - much) * 100 // has

    return by_node(feasible, lambda node: sum(height(used(*each)) for each in asked(world, pod, node)) // 2)


def limits(world, pod, feasible):
    def total(resource):
        rows = [row["resources"].get("limits", {}) for row in pod["spec"]["containers"]]
        return sum(amount(resource, row[resource]) for row in rows if resource in row)

    def score(node):
        return int(any(0 < total(each) <= allocatable(node, each) for each in ("cpu", "memory")))

    return by_node(feasible, score)


# Nodes alone


def node_affinity(world, pod, feasible):
    rows = pod["spec"].get("affinity", {}).get("nodeAffinity", {}).get(PREFERRED, [])
    sums = by_node(feasible, lambda node: sum(row["weight"] for row in rows if matches_term(node, row["preference"])))
    top = max(sums.values())
    return {name: value * 10 // top if top else 0 for name, value in sums.items()}


def soft_taints(world, pod, feasible):
    rows = [row for row in pod["spec"]["tolerations"] if row.get("effect", "") in {"", "PreferNoSchedule"}]

    def count(node):
        soft = [taint for taint in node["spec"]["taints"] if taint["effect"] == "PreferNoSchedule"]
        return sum(1 for taint in soft if not tolerated(taint, rows))

    counts = by_node(feasible, count)
    top = max(counts.values())
    return {name: 10 - value * 10 // top if top else 10 for name, value in counts.items()}


def images(world, pod, feasible):
    def held(node):
        return {name: row["sizeBytes"] for row in node["status"]["images"] for name in row["names"]}

    wanted = [row["image"] if ":" in row["image"] else f"{row['image']}:latest" for row in pod["spec"]["containers"]]
    low, high = 23 * MEBIBYTE, 1000 * MEBIBYTE

    def score(node):
        size = 0
        for image in wanted:
            if image in held(node):
                holders = sum(1 for each in world.nodes if image in held(each))
                size += int(held(node)[image] * (holders / len(world.nodes)))
        return 10 * (min(max(size, low), high) - low) // (high - low)

    return by_node(feasible, score)


def avoided(world, pod, feasible):
    owner = pod["metadata"]["ownerReferences"][0]

    def score(node):
        text = node["metadata"].get("annotations", {}).get(AVOID)
        rows = json.loads(text)["preferAvoidPods"] if text else []
        uids = [row["podSignature"]["podController"]["uid"] for row in rows]
        return 0 if owner["kind"] == "ReplicaSet" and owner["uid"] in uids else 10

    return by_node(feasible, score)


def liked(world, pod, feasible):
    return by_node(
        feasible,
        lambda node: sum(10 * weight for label, presence, weight in LIKES if (label in labels(node)) == presence),
    )


def equal(world, pod, feasible):
    return by_node(feasible, lambda node: 1)


# Like pods


def carries(selector, pod):
    return all(labels(pod).get(key) == value for key, value in selector.items())


def services_of(world, pod):
    return [
        selector
        for namespace, selector in world.services
        if namespace == pod["metadata"]["namespace"] and carries(selector, pod)
    ]


def count_like(world, pod, node, selectors):
    return sum(
        1
        for other in world.on(node)
        if other["metadata"]["namespace"] == pod["metadata"]["namespace"]
        and "deletionTimestamp" not in other["metadata"]
        and all(carries(selector, other) for selector in selectors)
    )


def zone(node):
    def first(keys):
        return next((labels(node)[key] for key in keys if key in labels(node)), "")

    return (first(REGIONS), first(ZONES)) if first(REGIONS) or first(ZONES) else None


def spread(world, pod, feasible, selectors):
    if not selectors:
        return None
    counts = by_node(feasible, lambda node: count_like(world, pod, node, selectors))
    zones = {}
    for node in feasible:
        if zone(node):
            zones[zone(node)] = zones.get(zone(node), 0) + counts[name_of(node)]
    top, top_zone = max(counts.values()), max(zones.values(), default=0)

    def score(node):
        found = 10 * ((top - counts[name_of(node)]) / top) if top else 10.0
        if zone(node):
            by_zone = 10 * ((top_zone - zones[zone(node)]) / top_zone) if top_zone else 10.0
            found = found * (1 - 2 / 3) + 2 / 3 * by_zone
        return int(found)

    return by_node(feasible, score)


def selector_spread(world, pod, feasible):
    controllers = [
        selector
        for namespace, _, selector in world.controllers
        if namespace == pod["metadata"]["namespace"] and carries(selector, pod)
    ]
    return spread(world, pod, feasible, services_of(world, pod) + controllers)


def service_spread(world, pod, feasible):
    return spread(world, pod, feasible, services_of(world, pod))


def _apart(world, pod, feasible, label, best):
    """Return node → share of the best score by which the service's pods are elsewhere; 0 without the label."""
    services = services_of(world, pod)
    counts = by_node(feasible, lambda node: count_like(world, pod, node, services[:1]) if services else 0)
    number = sum(counts.values())
    values = {}
    for node in feasible:
        if label in labels(node):
            values[labels(node)[label]] = values.get(labels(node)[label], 0) + counts[name_of(node)]

    def score(node):
        if label not in labels(node):
            return 0.0
        return best * ((number - values[labels(node)[label]]) / number) if number else float(best)

    return by_node(feasible, score)


def service_anti_affinity(world, pod, feasible):
    parts = [(_apart(world, pod, feasible, label, 10), weight) for label, weight in APART]
    return by_node(feasible, lambda node: sum(int(part[name_of(node)]) * weight for part, weight in parts))


def service_affinity_score(world, pod, feasible):
    parts = [_apart(world, pod, feasible, label, 100) for label, _ in APART]
    return by_node(feasible, lambda node: int(sum(part[name_of(node)] / len(parts) for part in parts)))


def service_affinity_filter(world, pod, node):
    wanted = {key: value for key, value in pod["spec"].get("nodeSelector", {}).items() if key in TOGETHER}
    if services_of(world, pod) and len(wanted) < len(TOGETHER):
        for each in world.nodes:
            like = [
                other
                for other in world.on(each)
                if other["metadata"]["namespace"] == pod["metadata"]["namespace"] and carries(labels(pod), other)
            ]
            if like:
                wanted = {**{key: labels(each)[key] for key in TOGETHER if key in labels(each)}, **wanted}
                break
    if all(labels(node).get(key) == value for key, value in wanted.items()):
        return []
    return ["node(s) didn't match service affinity"]


def even_spread(world, pod, feasible):
    rows = pod["spec"].get("topologySpreadConstraints", [])
    soft = [row for row in rows if row["whenUnsatisfiable"] == "ScheduleAnyway"]
    if not soft:
        return None
    keys = [row["topologyKey"] for row in soft]

    def count(node):
        total = 0
        for row in soft:
            for each in world.nodes:
                if not all(key in labels(each) for key in keys) or not matches_node_affinity(pod, each):
                    continue
                if together(node, each, row["topologyKey"]):
                    total += sum(
                        1
                        for other in world.on(each)
                        if other["metadata"]["namespace"] == pod["metadata"]["namespace"]
                        and selects(row["labelSelector"], other)
                    )
        return total

    counts = by_node([node for node in feasible if all(key in labels(node) for key in keys)], count)
    total, low = sum(counts.values()), min(counts.values(), default=0)

    def score(node):
        if name_of(node) not in counts:
            return 0
        return 10 if total == low else int(10 * ((total - counts[name_of(node)]) / (total - low)))

    return by_node(feasible, score)


def inter_pod_affinity(world, pod, feasible):
    def opinion(node, where, kind, owner, about):
        sign = 1 if kind == "podAffinity" else -1
        return sum(
            sign * row["weight"]
            for row in rules(owner, kind, PREFERRED)
            if chosen(row["podAffinityTerm"], owner, about)
            and together(node, where, row["podAffinityTerm"]["topologyKey"])
        )

    def total(node):
        found = 0
        for other in world.placed:
            where = home(world, other)
            for kind in ("podAffinity", "podAntiAffinity"):
                found += opinion(node, where, kind, pod, other) + opinion(node, where, kind, other, pod)
            for term in rules(other, "podAffinity", REQUIRED):
                found += chosen(term, other, pod) and together(node, where, term["topologyKey"])
        return found

    sums = by_node(feasible, total)
    low, high = min(0, *sums.values()), max(0, *sums.values())
    return {name: int(10 * ((value - low) / (high - low))) if high > low else 0 for name, value in sums.items()}
