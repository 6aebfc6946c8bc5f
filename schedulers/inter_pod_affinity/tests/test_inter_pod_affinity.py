"""Pods near to and far from others, as a plain loop over nodes and pods would have it."""

import numpy as np
import pytest
from hyperkube_scheduler.inter_pod_affinity import (
    AFFINITY_REASON,
    ANTI_AFFINITY_REASON,
    EXISTING_REASON,
    PREFERRED,
    REQUIRED,
    InterPodAffinity,
    InterPodAffinityPriority,
)
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table
from hypothesis import given, settings
from hypothesis import strategies as st

KINDS = ("podAffinity", "podAntiAffinity")
SERVICE = {"matchLabels": {"app": "web"}}


def term(key="zone", selector=SERVICE, **more):
    return {"labelSelector": selector, "topologyKey": key, **more}


def pod(name, labels=None, **affinity):
    spec = {"containers": [{"name": "c"}]}
    if affinity:
        spec["affinity"] = affinity
    return {"metadata": {"name": name, "namespace": "default", "uid": name, "labels": labels or {}}, "spec": spec}


def zones(*placed):
    nodes = table(
        {"name": "a", "labels": {"zone": "z1", "host": "a"}},
        {"name": "b", "labels": {"zone": "z1", "host": "b"}},
        {"name": "c", "labels": {"zone": "z2", "host": "c"}},
        {"name": "d"},
    )
    for each, node in placed:
        nodes.put_pod(each, node)
    return nodes


def test_affinity_keeps_the_domain_of_a_matching_pod():
    nodes = zones((pod("web", {"app": "web"}), "a"))

    result = InterPodAffinity(None).filter(pod_info(pod("new", podAffinity={REQUIRED: [term()]}), nodes), nodes)

    assert result.mask.tolist() == [True, True, False, False]
    assert result.reasons[AFFINITY_REASON].tolist() == [False, False, True, True]
    assert result.unresolvable.tolist() == [False, False, True, True]


def test_anti_affinity_refuses_the_domain():
    nodes = zones((pod("web", {"app": "web"}), "a"))

    result = InterPodAffinity(None).filter(pod_info(pod("new", podAntiAffinity={REQUIRED: [term()]}), nodes), nodes)

    assert result.mask.tolist() == [False, False, True, True]
    assert list(result.reasons) == [ANTI_AFFINITY_REASON]
    assert not result.unresolvable.any()


def test_a_placed_pod_may_refuse_company():
    nodes = zones((pod("loner", podAntiAffinity={REQUIRED: [term("host")]}), "c"))
    plugin, new = InterPodAffinity(None), pod_info(pod("new", {"app": "web"}), nodes)

    result = plugin.filter(new, nodes)

    assert not plugin.skips_filter(new, nodes)
    assert result.mask.tolist() == [True, True, False, True]
    assert list(result.reasons) == [EXISTING_REASON]


def test_the_first_pod_of_a_kind_that_likes_itself_may_go_where_the_label_is():
    nodes = zones()
    new = pod_info(pod("new", {"app": "web"}, podAffinity={REQUIRED: [term()]}), nodes)

    assert InterPodAffinity(None).filter(new, nodes).mask.tolist() == [True, True, True, False]


def test_other_namespaces_count_only_when_named():
    other = pod("web", {"app": "web"})
    other["metadata"]["namespace"] = "shop"
    nodes = zones((other, "c"))
    plugin = InterPodAffinity(None)

    own = pod_info(pod("new", podAffinity={REQUIRED: [term()]}), nodes)
    named = pod_info(pod("new", podAffinity={REQUIRED: [term(namespaces=["shop"])]}), nodes)
    every = pod_info(pod("new", podAffinity={REQUIRED: [term(namespaceSelector={})]}), nodes)

    assert not plugin.filter(own, nodes).mask.any()
    assert plugin.filter(named, nodes).mask.tolist() == [False, False, True, False]
    assert plugin.filter(every, nodes).mask.tolist() == [False, False, True, False]


def test_the_old_name_scores_from_0_to_10():
    nodes = zones((pod("web", {"app": "web"}), "a"), (pod("db", {"app": "db"}), "c"))
    own = {"weight": 5, "podAffinityTerm": term()}
    new = pod_info(pod("new", {"app": "web"}, podAffinity={PREFERRED: [own]}), nodes)
    every = np.ones(4, dtype=bool)

    old, today = InterPodAffinityPriority(None), InterPodAffinity(None)
    scores = old.normalize(new, nodes, old.score(new, nodes), every)

    assert scores.max() == 10
    assert (scores * 10 == today.normalize(new, nodes, today.score(new, nodes), every)).all()


def test_preferences_of_both_sides_add_up_and_stretch_to_100():
    likes = {"weight": 10, "podAffinityTerm": term("host")}
    nodes = zones((pod("web", {"app": "web"}), "a"), (pod("fan", podAffinity={PREFERRED: [likes]}), "c"))
    plugin = InterPodAffinity(None)
    own = {"weight": 5, "podAffinityTerm": term()}
    new = pod_info(pod("new", {"app": "web"}, podAffinity={PREFERRED: [own]}), nodes)

    scores = plugin.normalize(new, nodes, plugin.score(new, nodes), np.ones(4, dtype=bool))

    assert plugin.score(new, nodes).tolist() == [5, 5, 10, 0]
    assert scores.tolist() == [50, 50, 100, 0]


LABELS = st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["web", "db"]), max_size=2)
TERMS = st.lists(
    st.builds(
        lambda key, labels: term(key, {"matchLabels": labels}),
        st.sampled_from(["zone", "host"]),
        st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["web", "db"]), min_size=1, max_size=2),
    ),
    max_size=2,
)


@st.composite
def pods(draw, name):
    affinity = {}
    for kind in KINDS:
        required = draw(TERMS)
        preferred = [{"weight": index + 3, "podAffinityTerm": each} for index, each in enumerate(draw(TERMS))]
        if required or preferred:
            affinity[kind] = {REQUIRED: required, PREFERRED: preferred}
    return pod(name, draw(LABELS), **affinity)


@st.composite
def worlds(draw):
    label = st.dictionaries(st.sampled_from(["zone", "host"]), st.sampled_from(["x", "y", "z"]), max_size=2)
    labels = draw(st.lists(label, min_size=1, max_size=5))
    placed = [
        (draw(pods(f"p{index}")), draw(st.integers(0, len(labels) - 1))) for index in range(draw(st.integers(0, 6)))
    ]
    return labels, placed, draw(pods("new"))


def says(each, labels):
    return all(labels.get(key) == value for key, value in each["labelSelector"]["matchLabels"].items())


def rows(each, kind, rule):
    return each["spec"].get("affinity", {}).get(kind, {}).get(rule, [])


def labels_of(each):
    return each["metadata"]["labels"]


def plain_fits(labels, placed, new, node):
    """The rules as words: node by node, pod by pod."""
    here = labels[node]

    def together(key, other):
        return key in here and labels[other].get(key) == here[key]

    near = rows(new, KINDS[0], REQUIRED)
    if near:
        like = [at for each, at in placed if all(says(row, labels_of(each)) for row in near)]
        anywhere = any(row["topologyKey"] in labels[at] for at in like for row in near)
        if not anywhere and all(says(row, labels_of(new)) for row in near):
            if not all(row["topologyKey"] in here for row in near):
                return False
        elif not all(any(together(row["topologyKey"], at) for at in like) for row in near):
            return False
    for row in rows(new, KINDS[1], REQUIRED):
        if any(says(row, labels_of(each)) and together(row["topologyKey"], at) for each, at in placed):
            return False
    return not any(
        says(row, labels_of(new)) and together(row["topologyKey"], at)
        for each, at in placed
        for row in rows(each, KINDS[1], REQUIRED)
    )


def plain_score(labels, placed, new, node):
    here, total = labels[node], 0
    for each, at in placed:
        opinions = [(row, 1) for row in rows(each, KINDS[0], REQUIRED) if says(row, labels_of(new))]
        for kind, sign in zip(KINDS, (1, -1), strict=True):
            for one, other in ((new, each), (each, new)):
                opinions += [
                    (row["podAffinityTerm"], sign * row["weight"])
                    for row in rows(one, kind, PREFERRED)
                    if says(row["podAffinityTerm"], labels_of(other))
                ]
        for row, weight in opinions:
            key = row["topologyKey"]
            if key in here and labels[at].get(key) == here[key]:
                total += weight
    return total


@settings(max_examples=60, deadline=None)
@given(worlds())
def test_all_nodes_at_once_equal_one_by_one(world):
    labels, placed, new = world
    nodes = table(*({"name": f"n{index}", "labels": each} for index, each in enumerate(labels)))
    for each, at in placed:
        nodes.put_pod(each, f"n{at}")
    plugin, info = InterPodAffinity(None), pod_info(new, nodes)

    kept = plugin.filter(info, nodes).mask.tolist()
    scores = plugin.score(info, nodes).tolist()

    assert kept == [plain_fits(labels, placed, new, node) for node in range(len(labels))]
    assert scores == [plain_score(labels, placed, new, node) for node in range(len(labels))]
    if plugin.skips_filter(info, nodes):
        assert all(kept)


@pytest.mark.parametrize("weight", [-1, 101])
def test_a_weight_out_of_range_is_refused(weight):
    from hyperkube.machinery.errors import UsageError
    from hyperkube.plugin import PluginContext

    with pytest.raises(UsageError, match="hardPodAffinityWeight"):
        InterPodAffinity(PluginContext(name="InterPodAffinity", settings={"hardPodAffinityWeight": weight}))


class TestContract(SchedulingContract):
    plugin = InterPodAffinity
    nodes = ({"name": "a", "labels": {"zone": "z1"}}, {"name": "b"})
    pods = (pod("new", {"app": "web"}, podAffinity={REQUIRED: [term()]}),)
