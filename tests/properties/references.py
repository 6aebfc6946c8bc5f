"""Each plugin once more, node by node and in the plainest words, from what Kubernetes documents; no arrays.

A filter returns for a node the reasons against it, a score returns one number per node with normalization applied.
Nothing of the plugins or of the libraries they share is used here.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from worlds import PREFERRED, REQUIRED

HOST = "kubernetes.io/hostname"
UNITS = {"": 1, "m": Fraction(1, 1000), "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
MEBIBYTE = 2**20


def amount(resource, text):
    """Read a quantity: milli-cpu, or whole units."""
    number, unit = re.fullmatch(r"(\d+)(\D*)", text).groups()
    value = int(number) * UNITS[unit]
    return math.ceil(value * 1000) if resource == "cpu" else math.ceil(value)


def requests(pod, assumed=None):
    total = {}
    for container in pod["spec"]["containers"]:
        for resource, text in {**(assumed or {}), **container["resources"]["requests"]}.items():
            total[resource] = total.get(resource, 0) + amount(resource, text)
    return total


def requested(pods, assumed=None):
    total = {"pods": len(pods)}
    for pod in pods:
        for resource, value in requests(pod, assumed).items():
            total[resource] = total.get(resource, 0) + value
    return total


ASSUMED = {"cpu": "100m", "memory": "200Mi"}


def allocatable(node, resource):
    return amount(resource, node["status"]["allocatable"].get(resource, "0"))


def labels(obj):
    return obj["metadata"].get("labels", {})


# Nodes alone


def tolerated(taint, rows):
    for row in rows:
        if row.get("effect") and row["effect"] != taint["effect"]:
            continue
        if row.get("key") and row["key"] != taint["key"]:
            continue
        if row.get("operator") == "Exists" or row.get("value", "") == taint.get("value", ""):
            return True
    return False


def node_unschedulable(world, pod, node):
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    if node["spec"].get("unschedulable") and not tolerated(taint, pod["spec"]["tolerations"]):
        return ["node(s) were unschedulable"]
    return []


def node_name(world, pod, node):
    wanted = pod["spec"].get("nodeName")
    return [] if not wanted or wanted == node["metadata"]["name"] else ["node(s) didn't match the requested node name"]


def taint_filter(world, pod, node):
    for taint in node["spec"]["taints"]:
        if taint["effect"] in {"NoSchedule", "NoExecute"} and not tolerated(taint, pod["spec"]["tolerations"]):
            return ["node(s) had untolerated taint(s)"]
    return []


def taint_score(world, pod, feasible):
    rows = [row for row in pod["spec"]["tolerations"] if row.get("effect", "") in {"", "PreferNoSchedule"}]
    counts = {
        node["metadata"]["name"]: sum(
            1
            for taint in node["spec"]["taints"]
            if taint["effect"] == "PreferNoSchedule" and not tolerated(taint, rows)
        )
        for node in feasible
    }
    most = max(counts.values())
    return {name: 100 - 100 * count // most if most else 100 for name, count in counts.items()}


def matches_expression(node, row):
    value = labels(node).get(row["key"])
    operator = row["operator"]
    if operator == "Exists":
        return value is not None
    if operator == "DoesNotExist":
        return value is None
    if operator == "In":
        return value in row["values"]
    if operator == "NotIn":
        return value not in row["values"]
    if value is None or not value.isdecimal():
        return False
    return int(value) > int(row["values"][0]) if operator == "Gt" else int(value) < int(row["values"][0])


def matches_term(node, term):
    rows = term.get("matchExpressions") or []
    return bool(rows) and all(matches_expression(node, row) for row in rows)


def matches_node_affinity(pod, node):
    for key, value in pod["spec"].get("nodeSelector", {}).items():
        if labels(node).get(key) != value:
            return False
    rule = pod["spec"].get("affinity", {}).get("nodeAffinity", {}).get(REQUIRED)
    return rule is None or any(matches_term(node, term) for term in rule["nodeSelectorTerms"])


def node_affinity_filter(world, pod, node):
    return [] if matches_node_affinity(pod, node) else ["node(s) didn't match Pod's node affinity/selector"]


def node_affinity_score(world, pod, feasible):
    rows = pod["spec"].get("affinity", {}).get("nodeAffinity", {}).get(PREFERRED, [])
    sums = {
        node["metadata"]["name"]: sum(row["weight"] for row in rows if matches_term(node, row["preference"]))
        for node in feasible
    }
    most = max(sums.values())
    return {name: 100 * value // most if most else 0 for name, value in sums.items()}


def node_label_filter(world, pod, node):
    return [] if "disk" in labels(node) else ["node(s) didn't have the requested labels"]


def node_label_score(world, pod, feasible):
    return {
        node["metadata"]["name"]: (100 * ("disk" in labels(node)) + 100 * (HOST not in labels(node))) // 2
        for node in feasible
    }


# Nodes and the pods there


def ports(pod):
    for container in pod["spec"]["containers"]:
        for port in container["ports"]:
            yield port.get("hostIP") or "0.0.0.0", port["protocol"], port["hostPort"]


def node_ports(world, pod, node):
    taken = [port for other in world.on(node) for port in ports(other)]
    for address, protocol, number in ports(pod):
        for other, other_protocol, other_number in taken:
            same = address == other or "0.0.0.0" in {address, other}
            if same and (protocol, number) == (other_protocol, other_number):
                return ["node(s) didn't have free ports for the requested pod ports"]
    return []


def fit_filter(world, pod, node):
    there, reasons = requested(world.on(node)), []
    if there["pods"] + 1 > allocatable(node, "pods"):
        reasons.append("Too many pods")
    for resource, wanted in requests(pod).items():
        if wanted and there.get(resource, 0) + wanted > allocatable(node, resource):
            reasons.append(f"Insufficient {resource}")
    return reasons


def _shares(world, pod, node, share):
    there, wanted = requested(world.on(node), ASSUMED), requests(pod, ASSUMED)
    scores = []
    for resource in ("cpu", "memory"):
        has = allocatable(node, resource)
        if has:
            scores.append(share(there.get(resource, 0) + wanted.get(resource, 0), has))
    return sum(scores) // len(scores) if scores else 0


def least_score(world, pod, feasible):
    def share(asked, has):
        return 0 if asked > has else (has - asked) * 100 // has

    return {node["metadata"]["name"]: _shares(world, pod, node, share) for node in feasible}


def most_score(world, pod, feasible):
    return {
        node["metadata"]["name"]: _shares(world, pod, node, lambda asked, has: min(asked, has) * 100 // has)
        for node in feasible
    }


def ratio_score(world, pod, feasible):
    """The line from (0, 0) over (50, 100) to (100, 40), cpu weighing twice as much as memory."""

    def height(used):
        if used <= 50:
            return used * 2
        return 100 + int((40 - 100) * (used - 50) / 50)

    scores = {}
    for node in feasible:
        there, wanted = requested(world.on(node), ASSUMED), requests(pod, ASSUMED)
        total = weights = 0
        for resource, weight in (("cpu", 2), ("memory", 1)):
            has = allocatable(node, resource)
            if not has:
                continue
            asked = there.get(resource, 0) + wanted.get(resource, 0)
            one = height(100 if asked > has else asked * 100 // has)
            if one > 0:
                total, weights = total + one * weight, weights + weight
        scores[node["metadata"]["name"]] = math.floor(total / weights + 0.5) if weights else 0
    return scores


def balanced_score(world, pod, feasible):
    wanted = requests(pod)
    if not wanted.get("cpu") and not wanted.get("memory"):
        return None
    scores = {}
    for node in feasible:
        there = requested(world.on(node))
        before = balance(node, there)
        after = balance(node, {name: there.get(name, 0) + wanted.get(name, 0) for name in ("cpu", "memory")})
        scores[node["metadata"]["name"]] = 50 + (50 + after - before) // 2
    return scores


def balance(node, used):
    shares = [
        min(1.0, used.get(name, 0) / allocatable(node, name)) for name in ("cpu", "memory") if allocatable(node, name)
    ]
    spread = abs(shares[0] - shares[1]) / 2 if len(shares) == 2 else 0.0
    return int((1 - spread) * 100)


# The whole cluster


def image_score(world, pod, feasible):
    def held(node):
        return {name: row["sizeBytes"] for row in node["status"]["images"] for name in row["names"]}

    images = [container["image"] for container in pod["spec"]["containers"]]
    images = [image if ":" in image else f"{image}:latest" for image in images]
    holders = {image: sum(1 for node in world.nodes if image in held(node)) for image in images}
    if not any(holders.values()):
        return None
    low, high = 23 * MEBIBYTE, 1000 * MEBIBYTE * len(images)
    scores = {}
    for node in feasible:
        size = sum(
            int(held(node)[image] * (holders[image] / len(world.nodes))) for image in images if image in held(node)
        )
        scores[node["metadata"]["name"]] = 100 * (min(max(size, low), high) - low) // (high - low)
    return scores


def selects(selector, pod):
    for key, value in selector.get("matchLabels", {}).items():
        if labels(pod).get(key) != value:
            return False
    for row in selector.get("matchExpressions", []):
        if (row["key"] in labels(pod)) != (row["operator"] == "Exists"):
            return False
    return True


def chosen(term, owner, pod):
    """Tell whether a term of one pod speaks of another."""
    namespaces = term.get("namespaces") or [owner["metadata"]["namespace"]]
    return pod["metadata"]["namespace"] in namespaces and selects(term["labelSelector"], pod)


def rules(pod, kind, rule):
    return pod["spec"].get("affinity", {}).get(kind, {}).get(rule, [])


def together(one, other, key):
    return key in labels(one) and labels(one).get(key) == labels(other).get(key)


def home(world, pod):
    return next(node for node in world.nodes if node["metadata"]["name"] == pod["spec"]["nodeName"])


def inter_pod_filter(world, pod, node):
    near = rules(pod, "podAffinity", REQUIRED)
    if near:
        friends = [other for other in world.placed if all(chosen(term, pod, other) for term in near)]
        lonely = not any(term["topologyKey"] in labels(home(world, friend)) for term in near for friend in friends)
        first = lonely and all(chosen(term, pod, pod) for term in near)
        for term in near:
            if term["topologyKey"] not in labels(node):
                return ["node(s) didn't match pod affinity rules"]
            if not first and not any(together(node, home(world, friend), term["topologyKey"]) for friend in friends):
                return ["node(s) didn't match pod affinity rules"]
    for term in rules(pod, "podAntiAffinity", REQUIRED):
        for other in world.placed:
            if chosen(term, pod, other) and together(node, home(world, other), term["topologyKey"]):
                return ["node(s) didn't match pod anti-affinity rules"]
    for other in world.placed:
        for term in rules(other, "podAntiAffinity", REQUIRED):
            if chosen(term, other, pod) and together(node, home(world, other), term["topologyKey"]):
                return ["node(s) didn't satisfy existing pods anti-affinity rules"]
    return []


def inter_pod_score(world, pod, feasible):
    kinds = (("podAffinity", 1), ("podAntiAffinity", -1))
    sums = {}
    for node in feasible:
        total = 0
        for other in world.placed:
            where = home(world, other)
            for kind, sign in kinds:
                for row in rules(pod, kind, PREFERRED):
                    if chosen(row["podAffinityTerm"], pod, other) and together(
                        node, where, row["podAffinityTerm"]["topologyKey"]
                    ):
                        total += sign * row["weight"]
                for row in rules(other, kind, PREFERRED):
                    if chosen(row["podAffinityTerm"], other, pod) and together(
                        node, where, row["podAffinityTerm"]["topologyKey"]
                    ):
                        total += sign * row["weight"]
            for term in rules(other, "podAffinity", REQUIRED):
                if chosen(term, other, pod) and together(node, where, term["topologyKey"]):
                    total += 1
        sums[node["metadata"]["name"]] = total
    low, high = min(sums.values()), max(sums.values())
    return {name: int(100 * ((value - low) / (high - low))) if high > low else 0 for name, value in sums.items()}


def _constraints(pod, when):
    rows = pod["spec"].get("topologySpreadConstraints", [])
    return [row for row in rows if row["whenUnsatisfiable"] == when]


def _counts_node(pod, node, row):
    if row.get("nodeAffinityPolicy", "Honor") == "Honor" and not matches_node_affinity(pod, node):
        return False
    return row.get("nodeTaintsPolicy", "Ignore") != "Honor" or not taint_filter(None, pod, node)


def _like(world, pod, node, row):
    return sum(
        1
        for other in world.on(node)
        if other["metadata"]["namespace"] == pod["metadata"]["namespace"]
        and "deletionTimestamp" not in other["metadata"]
        and selects(row["labelSelector"], other)
    )


def spread_filter(world, pod, node):
    constraints = _constraints(pod, "DoNotSchedule")
    keys = [row["topologyKey"] for row in constraints]
    for row in constraints:
        key = row["topologyKey"]
        if key not in labels(node):
            return ["node(s) didn't match pod topology spread constraints (missing required label)"]
        domains = {}
        for each in world.nodes:
            if all(wanted in labels(each) for wanted in keys) and _counts_node(pod, each, row):
                value = labels(each)[key]
                domains[value] = domains.get(value, 0) + _like(world, pod, each, row)
        least = min(domains.values(), default=0) if len(domains) >= row.get("minDomains", 1) else 0
        skew = domains.get(labels(node)[key], 0) + selects(row["labelSelector"], pod) - least
        if skew > row["maxSkew"]:
            return ["node(s) didn't match pod topology spread constraints"]
    return []


def spread_score(world, pod, feasible):
    constraints = _constraints(pod, "ScheduleAnyway")
    if not constraints:
        return None
    keys = [row["topologyKey"] for row in constraints]
    scored = [node for node in feasible if all(key in labels(node) for key in keys)]
    sums = {}
    for node in scored:
        total = 0.0
        for row in constraints:
            key = row["topologyKey"]
            if key == HOST:
                size, count = len(scored), _like(world, pod, node, row)
            else:
                size = len({labels(each)[key] for each in scored})
                count = sum(
                    _like(world, pod, each, row)
                    for each in world.nodes
                    if all(wanted in labels(each) for wanted in keys)
                    and _counts_node(pod, each, row)
                    and labels(each)[key] == labels(node)[key]
                )
            total += count * math.log(size + 2) + (row["maxSkew"] - 1)
        sums[node["metadata"]["name"]] = math.floor(total + 0.5)
    low, high = (min(sums.values()), max(sums.values())) if sums else (0, 0)
    found = {name: 100 * (high + low - value) // high if high else 100 for name, value in sums.items()}
    return {node["metadata"]["name"]: found.get(node["metadata"]["name"], 0) for node in feasible}
