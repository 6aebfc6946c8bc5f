"""Which pods make room for which, and what is said if none can, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/defaultpreemption/default_preemption_test.go``,
``pkg/scheduler/framework/preemption/preemption_test.go``. Pods are written ``a1 mid large t3``: the name, whose first
letter is its node, the priority, the size, and when it started; also ``foo`` for a label.
"""

import numpy as np
import pytest
from hyperkube_scheduler.default_preemption import Candidate, DefaultPreemption, victims_on
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.scheduling import Filtered, PostFilterResult
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import InternalError
from hyperkube.plugin import PluginContext

PRIORITIES = {"neg": -100, "low": 0, "mid": 100, "high": 1000, "top": 10000}
SIZES = {"none": 0, "small": 100, "medium": 200, "large": 300, "huge": 500}


def pod(text, **spec):
    """A pod as written, on the node that its name begins with."""
    name, *words = text.split()
    labels, status, cpu = {}, {}, 0
    for word in words:
        if word in PRIORITIES:
            spec["priority"] = PRIORITIES[word]
        elif word in SIZES:
            cpu = SIZES[word]
        elif word.startswith("t"):
            status["startTime"] = f"2030-01-01T00:00:0{word[1:]}Z"
        else:
            labels[word] = "x"
    container = {"name": "c", "resources": {"requests": {"cpu": f"{cpu}m"}} if cpu else {}}
    meta = {"name": name, "namespace": "default", "uid": name, "labels": labels}
    return {"metadata": meta, "spec": {"containers": [container], **spec}, "status": status}


def world(text, cpu="500m", nodes=""):
    """Pods by the comma, on the nodes that they name or on those told."""
    placed = [pod(each) for each in text.split(",") if each.strip()]
    names = nodes.split() or sorted({each["metadata"]["name"][0] for each in placed})
    result = table(*({"name": name, "cpu": cpu} for name in names))
    for each in placed:
        result.put_pod(each, each["metadata"]["name"][0])
    return result


def cpu_fits(nodes, index, new):
    wanted = new["spec"]["containers"][0]["resources"].get("requests", {}).get("cpu", "0m")
    room = nodes.allocatable[0, index] - nodes.requested[0, index]
    return "" if int(wanted[:-1]) <= room else "Insufficient cpu"


def one_pod_fits(nodes, index, new):
    return "Too many pods" if nodes.pods(index) else ""


class Room:
    """A trial that asks one rule, counting how often; its review agrees with the nodes given, or with all."""

    def __init__(self, nodes, new, rule=cpu_fits, agreed=None):
        self.nodes, self.new, self.rule, self.agreed, self.asked = nodes, new, rule, agreed, 0

    def remove(self, index, each):
        self.nodes.remove_pod(f"default/{each['metadata']['name']}", self.nodes.names[index])

    def put_back(self, index, each):
        self.nodes.put_pod(each, self.nodes.names[index])

    def fits(self, index):
        self.asked += 1
        return not self.rule(self.nodes, index, self.new)

    def why_not(self, index):
        return [self.rule(self.nodes, index, self.new)]

    def review(self, choices):
        if isinstance(self.agreed, Exception):
            raise self.agreed
        return {name: row for name, row in choices.items() if self.agreed is None or name in self.agreed}


def build(client=None, budgets=(), **settings):
    plugin = DefaultPreemption(
        PluginContext(name="DefaultPreemption", client=client, clock=FakeClock(), settings=settings)
    )
    plugin._all_budgets = lambda: budgets
    return plugin


def budget(allowed, *disrupted):
    return {
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchExpressions": [{"key": "foo", "operator": "Exists"}]}},
        "status": {"disruptionsAllowed": allowed, "disruptedPods": dict.fromkeys(disrupted, "2030-01-01T00:00:00Z")},
    }


def told(candidates, nodes):
    """``a: a1 a2 (1)``: the victims of each node by name, and how many violations."""
    rows = []
    for each in candidates:
        names = " ".join(sorted(victim["metadata"]["name"] for victim in each.victims))
        rows.append(f"{nodes.names[each.index]}: {names}" + (f" ({each.violations})" if each.violations else ""))
    return "; ".join(sorted(rows))


def never(nodes, index, new):
    return "no"


def apart(nodes, index, new):
    """Cpu, and no other pod with foo on the node: what an anti-affinity of either asks."""
    foo = any("foo" in each["metadata"]["labels"] for each in nodes.pods(index))
    return "apart" if foo else cpu_fits(nodes, index, new)


def even(nodes, index, new):
    """At most one more in a zone, of which a and b are the first, or on a node than in the least."""
    each = [sum("foo" in one["metadata"]["labels"] for one in nodes.pods(column)) for column in range(len(nodes))]
    zones = [sum(each[:2]), sum(each[2:])]
    fits = each[index] + 1 - min(each) <= 1 and zones[index // 2] + 1 - min(zones) <= 1
    return "" if fits else "uneven"


TWO = "a1 mid large, b1 mid large"
FIVE = "a1 mid large, b1 mid large, c1 mid large, d1 mid large, e1 mid large"
PAIR = "a1 mid medium foo, a2 mid medium foo"
FEW = {"minCandidateNodesPercentage": 40, "minCandidateNodesAbsolute": 1}


@pytest.mark.parametrize(
    ("new", "pods", "how", "expected", "asked"),
    [
        pytest.param("p high", "a1 mid, b1 mid", {"rule": never}, "", 2, id="fits nowhere"),
        pytest.param("p high large", TWO, {}, "a: a1; b: b1", 4, id="fits on both in place of lower ones"),
        pytest.param("p low large", TWO, {}, "", 0, id="all others are more important"),
        pytest.param(
            "p high large", "a1 low small, a2 mid large, b1 mid large", {}, "a: a2; b: b1", 5, id="the small one stays",
        ),
        pytest.param(
            "p high large", "a1 mid small, a2 low small, a3 mid medium, a4 high small, b1 high large", {}, "a: a2 a3", 4,
            id="of several priorities",
        ),
        pytest.param(
            "p high large", "a1 low small t5, a2 low small t4, a3 mid medium t3, a4 high small t2, b1 high large t1",
            {}, "a: a1 a3", 4, id="the later started one",
        ),
        pytest.param(
            "p high small foo", "a1 low small foo, a2 mid small, a3 high small, b1 high small", {"rule": apart},
            "a: a1", 3, id="kept apart",
        ),
        pytest.param(
            "p high foo", "a1 mid foo, a2 low foo, b1 low foo, c1 high foo, c2 high foo", {"rule": even},
            "a: a2; b: b1", 5, id="spread over zones and nodes",
        ),
        pytest.param("p high large", TWO, {"rule": never}, "", 2, id="refused in the trial too"),
        pytest.param("p high huge", PAIR, {"budgets": [budget(1)]}, "a: a1 a2 (1)", 3, id="one budget for both"),
        pytest.param(
            "p high huge", PAIR, {"budgets": [budget(1, "z9")]}, "a: a1 a2 (1)", 3, id="another one is evicted already",
        ),
        pytest.param(
            "p high huge", PAIR, {"budgets": [budget(1, "a2")]}, "a: a1 a2", 3, id="one of them is evicted already",
        ),
        pytest.param(
            "p high huge", f"{PAIR}, a3 mid medium foo", {"budgets": [budget(1, "a3")], "cpu": "600m"},
            "a: a1 a2 a3 (1)", 4, id="the evicted one counts for no budget",
        ),
        pytest.param("p high large", FIVE, {"first": 4, **FEW}, "a: a1; e: e1", 4, id="two are enough"),
        pytest.param(
            "p high large", "a1 mid large, b1 top large, c1 mid large, d1 mid large, e1 top large", {"first": 4, **FEW},
            "a: a1; c: c1", 4, id="two are enough, some are none",
        ),
        pytest.param("p high large", FIVE, {"first": 1, **FEW}, "b: b1; c: c1", 4, id="the next attempt"),
        pytest.param("p high large", FIVE, {"first": 3, **FEW}, "d: d1; e: e1", 4, id="the one after"),
        pytest.param(
            "p high large", "a1 mid large foo, b1 mid large foo, c1 mid large, d1 mid large, e1 mid large foo",
            {"first": 4, "minCandidateNodesPercentage": 40, "minCandidateNodesAbsolute": 2, "budgets": [budget(0)]},
            "a: a1 (1); c: c1; e: e1 (1)", 8, id="on until one violates no budget",
        ),
    ],
)  # fmt: skip
def test_candidates(new, pods, how, expected, asked):
    how = dict(how)
    nodes, new = world(pods, how.pop("cpu", "500m")), pod(new)
    rule, first, budgets = how.pop("rule", cpu_fits), how.pop("first", 0), how.pop("budgets", ())
    dry_run, everywhere = Room(nodes, new, rule), list(range(len(nodes)))
    before = nodes.requested.copy()

    found = build(budgets=budgets, **how).candidates(
        pod_info(new, nodes), nodes, everywhere[first:] + everywhere[:first], dry_run, {}
    )

    assert told(found, nodes) == expected
    assert dry_run.asked == asked
    assert (nodes.requested == before).all(), "the trial leaves no trace"


@pytest.mark.parametrize(
    ("new", "pods", "expected"),
    [
        pytest.param("p high large", "a1 mid large t0, b1 mid large t0", "a b", id="either"),
        pytest.param(
            "p high huge", "a1 mid medium t0, a2 mid large t0, b1 mid medium t0, b2 low medium t0,"
            "c1 low medium t0, c2 low medium t0", "c", id="the lowest highest priority",
        ),
        pytest.param(
            "p high huge", "a1 mid medium t0, a2 mid large t0, b1 mid large t0, b2 low medium t0,"
            "c1 mid medium t0, c2 mid medium t0", "b", id="then the least sum of priorities",
        ),
        pytest.param(
            "p high huge", "a1 mid small t0, a2 neg small t0, a3 mid small t0, a4 neg small t0, b1 mid large t0,"
            "b2 neg medium t0, c1 mid medium t0, c2 neg small t0, c3 low small t0", "b", id="then the fewest pods",
        ),
        pytest.param(
            "p high huge", "a1 mid small t0, a2 neg small t0, a3 neg small t0, b1 mid large t0, b2 neg medium t0,"
            "c1 mid medium t0, c2 neg small t0, c3 low small t0", "b", id="negative priorities weigh too",
        ),
        pytest.param(
            "p top huge", "a1 mid small t0, a2 low small t0, a3 low small t0, b1 high large t0, c1 mid medium t0,"
            "c2 low small t0, c3 low small t0, c4 low medium t0, d1 mid medium t0, d2 mid small t0, d3 mid small t0,"
            "d4 neg small t0", "a", id="one criterion after the other",
        ),
        pytest.param(
            "p high huge", "a1 mid medium t2, a2 mid medium t2, b1 mid medium t3, b2 mid medium t3,"
            "c1 mid medium t1, c2 mid medium t1", "b", id="then the latest start",
        ),
        pytest.param(
            "p high huge", "a1 mid medium t4, a2 mid medium t2, b1 mid medium t5, b2 mid medium t1,"
            "c1 mid medium t3, c2 mid medium t6", "c", id="the earliest of a node counts",
        ),
        pytest.param(
            "p high huge", "a1 low medium t4, a2 mid medium t2, b1 mid medium t6, b2 low medium t1,"
            "c1 low medium t3, c2 mid medium t5", "b", id="of its highest priority",
        ),
    ],
)  # fmt: skip
def test_the_best_candidate(new, pods, expected):
    nodes, new = world(pods), pod(new)
    found = [victims_on(index, nodes.pods(index), [], Room(nodes, new)) for index in range(len(nodes))]

    assert all(isinstance(each, Candidate) for each in found)
    assert nodes.names[min(found, key=Candidate.cost).index] in expected.split()


def attempt(nodes, new, dry_run, helpless=(), client=None, budgets=()):
    mask = np.zeros(len(nodes), dtype=bool)
    unresolvable = np.array([name in helpless for name in nodes.names])
    refused = {"Fit": Filtered(mask, {}, unresolvable)}
    answer = build(client, budgets).post_filter(pod_info(new, nodes), nodes, refused, dry_run)
    return answer() if callable(answer) else answer


NOBODY, USELESS = "No preemption victims found for incoming pod", "Preemption is not helpful for scheduling"


@pytest.mark.parametrize(
    ("new", "nodes", "pods", "how", "expected"),
    [
        pytest.param("p high", "a", "a1", {}, "a", id="of higher priority"),
        pytest.param("p", "a", "a1", {}, f"0/1 nodes are available: 1 {NOBODY}.", id="of the same"),
        pytest.param("p high", "a", "a1", {"helpless": "a"}, f"0/1 nodes are available: 1 {USELESS}.", id="no help"),
        pytest.param("p mid", "a b", "a1 high, b1 low", {}, "b", id="on one node"),
        pytest.param("p top", "a b", "a1 high, a2 low foo, b1 mid foo", {}, "b", id="the lowest highest priority"),
        pytest.param("p high", "a b", "a1, b1", {"agreed": ["a"]}, "a", id="what extenders leave"),
        pytest.param(
            "p high large", "a b", "a1, b1", {"rule": cpu_fits}, "0/2 nodes are available: 2 Insufficient cpu.",
            id="not even without them",
        ),
        pytest.param(
            "p high large", "a b c", "a1 high, b1, c1 high", {"rule": cpu_fits},
            f"0/3 nodes are available: 1 Insufficient cpu, 2 {NOBODY}.", id="different reasons",
        ),
        pytest.param(
            "p high large", "a b c d", "a1, b1", {"rule": cpu_fits, "helpless": "cd"},
            f"0/4 nodes are available: 2 Insufficient cpu, 2 {USELESS}.", id="no help on some",
        ),
        pytest.param("p high", "a", "a1", {"agreed": []}, "no candidate node for preemption", id="extenders refuse"),
        pytest.param("p high", "a", "a1", {"agreed": InternalError("away")}, "away", id="an extender fails"),
    ],
)  # fmt: skip
def test_an_attempt(new, nodes, pods, how, expected):
    how = {"rule": one_pod_fits, **how}
    nodes, new, client, helpless = world(pods, "200m", nodes), pod(new), FakeClient(), how.pop("helpless", "")
    for index in range(len(nodes)):
        client.seed(PODS, *nodes.pods(index))

    nomination = attempt(nodes, new, Room(nodes, new, **how), helpless, client, [budget(0)])

    assert nomination.node == expected if expected in nodes.names else nomination.message == f"preemption: {expected}"
    assert nomination.noop is (expected in {"away", "no candidate node for preemption"})


THREE = "a1 low small, a2 low small, b1 high large, c1 mid medium"
ASKED = "a1 mid small, a2 low small, c1 mid large"


@pytest.mark.parametrize(
    ("pods", "spec", "how", "expected"),
    [
        pytest.param(THREE, {"preemptionPolicy": "PreemptLowerPriority"}, {}, ("a", "a1 a2"), id="plain"),
        pytest.param(THREE, {}, {}, ("a", "a1 a2"), id="no policy"),
        pytest.param(THREE, {"preemptionPolicy": "Never"}, {}, (None, ""), id="never"),
        pytest.param(ASKED, {}, {"agreed": ["a"]}, ("a", "a1 a2"), id="extenders leave a"),
        pytest.param(ASKED, {}, {"agreed": []}, (None, ""), id="extenders leave none"),
        pytest.param(ASKED, {}, {}, ("c", "c1"), id="extenders have no say"),
        pytest.param(
            "a1 high foo, a2 high foo, b1 low foo, c1 high foo, c2 high foo", {}, {"rule": even}, ("b", "b1"),
            id="spread over zones and nodes",
        ),
    ],
)  # fmt: skip
def test_victims_are_told_and_deleted(pods, spec, how, expected):
    nodes, new, client = world(pods), pod("p high huge foo", **spec), FakeClient()
    for index in range(len(nodes)):
        client.seed(PODS, *nodes.pods(index))

    nomination = attempt(nodes, new, Room(nodes, new, **how), client=client)

    patched = [path.split("/")[1] for verb, _, path in client.actions if verb == "patch"]
    deleted = [path.split("/")[1] for verb, _, path in client.actions if verb == "delete"]
    assert (nomination.node, " ".join(sorted(deleted))) == expected
    assert patched == deleted


def test_a_victim_learns_why_before_it_goes():
    nodes, new, client = world("a1 low large"), pod("p high large", schedulerName="mine"), FakeClient()
    client.seed(PODS, *nodes.pods(0))

    attempt(nodes, new, Room(nodes, new), client=client)

    (row,) = next(event.object["status"]["conditions"] for _, event in client.journal if event.type == "MODIFIED")
    assert (row["type"], row["status"], row["reason"]) == ("DisruptionTarget", "True", "PreemptionByScheduler")
    assert row["message"] == "mine: preempting to accommodate a higher priority pod"


@pytest.mark.parametrize(
    ("victims", "failing", "expected", "deleted"),
    [
        pytest.param("", "", PostFilterResult("a"), "", id="no victims"),
        pytest.param("a1 mid", "", PostFilterResult("a", victims=1), "a1", id="one"),
        pytest.param("a1 mid ending", "", PostFilterResult("a", victims=1), "", id="one that ends already"),
        pytest.param("a1 mid gone", "", PostFilterResult("a", victims=1), "", id="one that is gone already"),
        pytest.param("a1 mid told", "", PostFilterResult("a", victims=1), "a1", id="one that was told already"),
        pytest.param("a1 mid", "delete", "preemption: broken", "", id="deleting fails"),
        pytest.param("a1 mid", "patch", "preemption: broken", "", id="telling fails"),
        pytest.param("a1 mid, a2 mid", "patch", "preemption: broken", "", id="the first of two fails"),
    ],
)
def test_eviction(victims, failing, expected, deleted):
    client, chosen = FakeClient(), []
    row = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    for each in map(pod, filter(None, victims.split(","))):
        labels = each["metadata"]["labels"]
        each["spec"]["nodeName"] = "a"
        if "ending" in labels:
            each["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
        if "told" in labels:
            each["status"]["conditions"] = [row]
        chosen += [each] if "gone" in labels else client.seed(PODS, each)
    if failing:
        client.fail_next(failing, "pods", InternalError("broken"))

    nomination = build(client).evict(pod("p high"), "a", chosen)

    gone = [path.split("/")[1] for verb, _, path in client.actions if verb == "delete" and not failing]
    assert nomination == (PostFilterResult(None, expected, noop=True) if failing else expected)
    assert " ".join(name for name in gone if "gone" not in victims) == deleted


@pytest.mark.parametrize(
    ("new", "ending", "helpless", "expected"),
    [
        pytest.param({"nominatedNodeName": "a"}, "other", "a", True, id="its node will never fit"),
        pytest.param({}, "", "", True, id="not nominated"),
        pytest.param({"preemptionPolicy": "Never"}, "", "", False, id="never"),
        pytest.param({"nominatedNodeName": "a"}, "victim", "", False, id="its victim is ending"),
        pytest.param({"nominatedNodeName": "a"}, "other", "", True, id="another pod is ending"),
        pytest.param({"nominatedNodeName": "gone"}, "victim", "", True, id="its node is gone"),
    ],
)
def test_who_may_preempt(new, ending, helpless, expected):
    nodes, preemptor = world("", nodes="a b"), pod("p high")
    if ending:
        each = pod("a1 low")
        each["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
        reason = "PreemptionByScheduler" if ending == "victim" else "EvictionByEvictionAPI"
        each["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": reason}]
        nodes.put_pod(each, "a")
    preemptor["status"] = {key: value for key, value in new.items() if key == "nominatedNodeName"}
    preemptor["spec"] |= {key: value for key, value in new.items() if key == "preemptionPolicy"}

    nomination = attempt(nodes, preemptor, Room(nodes, preemptor, never), helpless)

    assert nomination.message.startswith("preemption: not eligible") is not expected
    assert nomination.noop is not expected
