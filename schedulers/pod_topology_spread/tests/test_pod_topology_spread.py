"""Skew stays within its limit, and fewer like pods score higher, as a plain loop would have it."""

import math

import numpy as np
import pytest
from hyperkube_scheduler.pod_topology_spread import HARD, LABEL_REASON, REASON, SOFT, PodTopologySpread
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table
from hypothesis import given, settings
from hypothesis import strategies as st

WEB = {"app": "web"}


def pod(name, labels=None, *constraints):
    spec = {"containers": [{"name": "c"}], "topologySpreadConstraints": list(constraints)}
    return {"metadata": {"name": name, "namespace": "default", "uid": name, "labels": labels or {}}, "spec": spec}


def spread(key="zone", skew=1, when=HARD, labels=None, **more):
    selector = {"matchLabels": WEB if labels is None else labels}
    return {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": when, "labelSelector": selector, **more}


def world(*counts):
    """Nodes a, b in z1, c in z2 and d without a zone, with that many web pods each."""
    nodes = table(
        {"name": "a", "labels": {"zone": "z1", "kubernetes.io/hostname": "a"}},
        {"name": "b", "labels": {"zone": "z1", "kubernetes.io/hostname": "b"}},
        {"name": "c", "labels": {"zone": "z2", "kubernetes.io/hostname": "c"}},
        {"name": "d", "labels": {"kubernetes.io/hostname": "d"}},
    )
    for node, count in zip("abcd", counts, strict=False):
        for index in range(count):
            nodes.put_pod(pod(f"{node}{index}", WEB), node)
    return nodes


def test_the_fuller_domain_is_refused():
    nodes = world(1, 1, 1, 0)

    result = PodTopologySpread(None).filter(pod_info(pod("new", WEB, spread()), nodes), nodes)

    assert result.mask.tolist() == [False, False, True, False]
    assert result.reasons[REASON].tolist() == [True, True, False, False]
    assert result.reasons[LABEL_REASON].tolist() == [False, False, False, True]
    assert result.unresolvable.tolist() == [False, False, False, True]


def test_too_few_domains_count_as_an_empty_one():
    nodes = world(0, 1, 1, 0)

    result = PodTopologySpread(None).filter(pod_info(pod("new", WEB, spread(minDomains=3)), nodes), nodes)

    assert not result.mask.any()


def test_match_label_keys_narrow_what_counts():
    nodes = world(2, 0, 0, 0)
    new = pod("new", {**WEB, "version": "2"}, spread(matchLabelKeys=["version"]))

    assert PodTopologySpread(None).filter(pod_info(new, nodes), nodes).mask.tolist() == [True, True, True, False]


def test_ending_pods_do_not_count():
    nodes = world(0, 0, 1, 0)
    ending = pod("ending", WEB)
    ending["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    nodes.put_pod(ending, "a")

    kept = PodTopologySpread(None).filter(pod_info(pod("new", WEB, spread()), nodes), nodes).mask

    assert kept.tolist() == [True, True, False, False]


def test_fewer_like_pods_score_higher():
    nodes = world(3, 1, 2, 0)
    plugin = PodTopologySpread(None)
    new = pod_info(pod("new", WEB, spread("kubernetes.io/hostname", when=SOFT)), nodes)

    scores = plugin.normalize(new, nodes, plugin.score(new, nodes), np.ones(4, dtype=bool))

    # counts 3, 1, 2, 0 times log(4 + 2), rounded: 5, 2, 4, 0
    assert scores.tolist() == [0, 60, 20, 100]


@st.composite
def worlds(draw):
    label = st.dictionaries(st.sampled_from(["zone", "kubernetes.io/hostname"]), st.sampled_from("xyz"), max_size=2)
    labels = draw(st.lists(label, min_size=1, max_size=6))
    counts = [draw(st.integers(0, 3)) for _ in labels]
    rows = draw(
        st.lists(
            st.builds(
                spread,
                st.sampled_from(["zone", "kubernetes.io/hostname"]),
                st.integers(1, 3),
                st.sampled_from([HARD, SOFT]),
                st.sampled_from([WEB, {"app": "db"}]),
            ),
            min_size=1,
            max_size=3,
        )
    )
    feasible = [draw(st.booleans()) for _ in labels]
    return labels, counts, rows, feasible


def plain_fits(labels, counts, rows, node):
    rows = [row for row in rows if row["whenUnsatisfiable"] == HARD]
    everywhere = [index for index, each in enumerate(labels) if all(row["topologyKey"] in each for row in rows)]
    for row in rows:
        key, matches = row["topologyKey"], row["labelSelector"]["matchLabels"] == WEB
        if key not in labels[node]:
            return False
        domains = {}
        for index in everywhere:
            domains[labels[index][key]] = domains.get(labels[index][key], 0) + (counts[index] if matches else 0)
        least = min(domains.values(), default=0)
        if domains.get(labels[node][key], 0) + matches - least > row["maxSkew"]:
            return False
    return True


def plain_scores(labels, counts, rows, feasible):
    rows = [row for row in rows if row["whenUnsatisfiable"] == SOFT]
    good = [index for index, each in enumerate(labels) if all(row["topologyKey"] in each for row in rows)]
    scored = [index for index in good if feasible[index]]
    raw = {}
    for node in scored:
        total = 0.0
        for row in rows:
            key, matches = row["topologyKey"], row["labelSelector"]["matchLabels"] == WEB
            if key == "kubernetes.io/hostname":
                size, number = len(scored), counts[node] if matches else 0
            else:
                size = len({labels[index][key] for index in scored})
                like = (index for index in good if labels[index][key] == labels[node][key])
                number = sum(counts[index] for index in like) if matches else 0
            total += number * math.log(size + 2) + row["maxSkew"] - 1
        raw[node] = math.floor(total + 0.5)
    most, least = max(raw.values(), default=0), min(raw.values(), default=0)
    scores = [0] * len(labels)
    for node, value in raw.items():
        scores[node] = 100 * (most + least - value) // most if most else 100
    return scores


@settings(max_examples=60, deadline=None)
@given(worlds())
def test_all_nodes_at_once_equal_one_by_one(case):
    labels, counts, rows, feasible = case
    nodes = table(*({"name": f"n{index}", "labels": each} for index, each in enumerate(labels)))
    for index, count in enumerate(counts):
        for number in range(count):
            nodes.put_pod(pod(f"p{index}-{number}", WEB), f"n{index}")
    plugin, info = PodTopologySpread(None), pod_info(pod("new", WEB, *rows), nodes)
    mask = np.array(feasible)

    if not plugin.skips_filter(info, nodes):
        kept = plugin.filter(info, nodes).mask.tolist()
        assert kept == [plain_fits(labels, counts, rows, node) for node in range(len(labels))]
    if not plugin.skips_score(info, nodes):
        scores = plugin.normalize(info, nodes, plugin.score(info, nodes), mask).tolist()
        assert scores == plain_scores(labels, counts, rows, feasible)


@pytest.mark.parametrize("kind", ["Odd", "System"])
def test_settings_that_contradict_are_refused(kind):
    from hyperkube.machinery.errors import UsageError
    from hyperkube.plugin import PluginContext

    given_settings = {"defaultingType": kind, "defaultConstraints": [{"topologyKey": "zone", "maxSkew": 1}]}
    with pytest.raises(UsageError, match="default"):
        PodTopologySpread(PluginContext(name="PodTopologySpread", settings=given_settings))


class TestContract(SchedulingContract):
    plugin = PodTopologySpread
    nodes = ({"name": "a", "labels": {"zone": "z1"}}, {"name": "b"})
    pods = (pod("new", WEB, spread()),)
