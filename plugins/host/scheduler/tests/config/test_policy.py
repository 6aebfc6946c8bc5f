"""1.x policies: every old name is known, today's plugins are meant by default, 1.x's own where that is asked for."""

import pytest

pytest.importorskip("hyperkube_scheduler.default_provider")

from hyperkube_host.scheduler.config.plugin_data import PluginTables
from hyperkube_host.scheduler.config.policy import from_policy
from hyperkube_scheduler.default_provider import PROVIDER

from hyperkube.machinery.errors import UsageError

SERVICES = ({"serviceAntiAffinity": {"label": "zone"}}, {"serviceAntiAffinity": {"label": "rack"}})
LABELS = ({"labelPreference": {"label": "ssd", "presence": True}}, {"labelPreference": {"label": "old"}})
RATIO = {"requestedToCapacityRatioArguments": {"shape": [{"utilization": 0, "score": 10}]}}


PREDICATES = {
    "CheckNodeCondition": ("CheckNodeCondition",),
    "CheckNodeUnschedulable": ("NodeUnschedulable",),
    "GeneralPredicates": ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"),
    "HostName": ("NodeName",),
    "PodFitsHostPorts": ("NodePorts",),
    "PodFitsPorts": ("NodePorts",),
    "MatchNodeSelector": ("NodeAffinity",),
    "PodFitsResources": ("NodeResourcesFit",),
    "NoDiskConflict": ("VolumeRestrictions",),
    "PodToleratesNodeTaints": ("TaintToleration",),
    "CheckNodeLabelPresence": ("NodeLabel",),
    "CheckServiceAffinity": ("ServiceAffinity",),
    "MaxEBSVolumeCount": ("EBSLimits",),
    "MaxGCEPDVolumeCount": ("GCEPDLimits",),
    "MaxCSIVolumeCountPred": ("NodeVolumeLimits",),
    "MaxAzureDiskVolumeCount": ("AzureDiskLimits",),
    "MaxCinderVolumeCount": ("CinderLimits",),
    "NoVolumeNodeConflict": ("VolumeBinding",),
    "CheckVolumeBinding": ("VolumeBinding",),
    "NoVolumeZoneConflict": ("VolumeZone",),
    "CheckNodeMemoryPressure": ("CheckNodeMemoryPressure",),
    "CheckNodePIDPressure": ("CheckNodePIDPressure",),
    "CheckNodeDiskPressure": ("CheckNodeDiskPressure",),
    "EvenPodsSpread": ("PodTopologySpread",),
    "MatchInterPodAffinity": ("InterPodAffinity",),
}
"""Source: kubernetes 1.20 ``pkg/scheduler/framework/plugins/legacy_registry.go``; in 1.x's order."""
PRIORITIES = {
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "EqualPriority": "",
    "EvenPodsSpreadPriority": "PodTopologySpread",
    "ImageLocalityPriority": "ImageLocality",
    "InterPodAffinityPriority": "InterPodAffinity",
    "LeastRequestedPriority": "NodeResourcesLeastAllocated",
    "MostRequestedPriority": "NodeResourcesMostAllocated",
    "NodeAffinityPriority": "NodeAffinity",
    "NodePreferAvoidPodsPriority": "NodePreferAvoidPods",
    "RequestedToCapacityRatioPriority": "RequestedToCapacityRatio",
    "ResourceLimitsPriority": "ResourceLimitsPriority",
    "SelectorSpreadPriority": "SelectorSpread",
    "ServiceSpreadingPriority": "SelectorSpread",
    "TaintTolerationPriority": "TaintToleration",
}
LEGACY_DEFAULTS = {
    "SelectorSpreadPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodePreferAvoidPodsPriority": 10_000,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
    "ImageLocalityPriority": 1,
}
"""Source: kubernetes 1.15 ``pkg/scheduler/algorithmprovider/defaults/defaults.go``."""


def priorities(*rows, **more):
    """Return a policy with custom priorities p0, p1 and so on, each a weight and an argument."""
    named = [{"name": f"p{number}", "weight": weight, "argument": each} for number, (weight, each) in enumerate(rows)]
    return {"priorities": named, **more}


def test_an_empty_policy_means_the_defaults_and_empty_lists_the_least():
    usual = from_policy({"kind": "Policy", "apiVersion": "v1"}, PROVIDER)
    least = from_policy({"kind": "Policy", "apiVersion": "v1", "predicates": [], "priorities": []}, PROVIDER)

    assert usual.filters == PROVIDER.filters
    assert least.filters == ("NodeUnschedulable", "TaintToleration")
    assert least.scores == {}


def test_old_names_become_todays_plugins():
    policy = {
        "predicates": [{"name": "GeneralPredicates"}, {"name": "MatchInterPodAffinity"}, {"name": "PodFitsPorts"}],
        "priorities": [
            {"name": "LeastRequestedPriority", "weight": 2},
            {"name": "EqualPriority", "weight": 1},
            {"name": "ServiceSpreadingPriority", "weight": 3},
        ],
        "hardPodAffinitySymmetricWeight": 10,
    }

    provider = from_policy(policy, PROVIDER)

    general = ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity")
    assert provider.filters == ("NodeUnschedulable", *general, "TaintToleration", "InterPodAffinity")
    assert provider.scores == {"NodeResourcesLeastAllocated": 2, "SelectorSpread": 3}
    assert provider.settings["InterPodAffinity"]["hardPodAffinityWeight"] == 10


def test_the_plugins_answer_to_all_names_of_1_x():
    tables = PluginTables.read()

    assert tables.predicates() == set(PREDICATES)
    assert tables.priorities(legacy=False) == PRIORITIES
    assert tables.priorities(legacy=True) == {name: name for name in PRIORITIES}
    assert tables.legacy_defaults() == LEGACY_DEFAULTS


def test_filters_are_asked_in_the_order_of_1_x():
    everything = from_policy({"predicates": [{"name": name} for name in reversed(PREDICATES)]}, PROVIDER)

    assert everything.filters == tuple(dict.fromkeys(plugin for row in PREDICATES.values() for plugin in row))


@pytest.mark.parametrize("name", PREDICATES)
def test_every_predicate_is_taken_with_those_that_must_be(name):
    filters = from_policy({"predicates": [{"name": name}]}, PROVIDER).filters

    assert set(filters) == {"NodeUnschedulable", "TaintToleration", *PREDICATES[name]}


def test_a_policy_may_want_every_reason():
    assert from_policy({"alwaysCheckAllPredicates": True}, PROVIDER).checks_all
    assert not from_policy({}, PROVIDER).checks_all


def test_a_policys_shape_and_resources_become_settings():
    shape_of = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    resources = [{"name": "example.com/gpu", "weight": 3}]
    argument = {"requestedToCapacityRatioArguments": {"shape": shape_of, "resources": resources}}

    provider = from_policy({"priorities": [{"name": "pack", "weight": 2, "argument": argument}]}, PROVIDER)

    assert provider.scores == {"RequestedToCapacityRatio": 2}
    assert provider.settings["RequestedToCapacityRatio"] == {"shape": shape_of, "resources": resources}


def test_a_policys_extender_speaks_todays_words():
    row = {
        "urlPrefix": "https://127.0.0.1:1/x", "filterVerb": "f", "prioritizeVerb": "p", "preemptVerb": "e",
        "bindVerb": "b", "weight": 5, "enableHttps": True, "httpTimeout": 1_500_000_000, "nodeCacheCapable": True,
        "tlsConfig": {"caFile": "/ca"}, "ignorable": True, "managedResources": [{"name": "example.com/gpu"}],
    }  # fmt: skip

    provider = from_policy({"extenders": [row]}, PROVIDER)

    (today,) = provider.settings["Extenders"]["extenders"]
    assert (today["enableHTTPS"], today["httpTimeout"]) == (True, "1500000000ns")
    same = set(row) - {"enableHttps", "httpTimeout"}
    assert {name: today[name] for name in same} == {name: row[name] for name in same}
    assert provider.binds[0] == "Extenders"


def test_arguments_of_a_policy_become_settings():
    policy = {
        "predicates": [
            {"name": "zones", "argument": {"serviceAffinity": {"labels": ["zone"]}}},
            {"name": "no-old", "argument": {"labelsPresence": {"labels": ["old"], "presence": False}}},
        ],
        "priorities": [
            {"name": "spread", "weight": 2, "argument": {"serviceAntiAffinity": {"label": "rack"}}},
            {"name": "like", "weight": 1, "argument": {"labelPreference": {"label": "ssd", "presence": True}}},
        ],
    }

    settings = from_policy(policy, PROVIDER).settings

    assert settings["ServiceAffinity"] == {"affinityLabels": ["zone"], "antiAffinityLabelsPreference": ["rack"]}
    assert settings["NodeLabel"] == {"absentLabels": ["old"], "presentLabelsPreference": ["ssd"]}


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        pytest.param({"predicates": [{"name": "Odd"}]}, "predicate type not found for 'Odd'", id="predicate"),
        pytest.param({"priorities": [{"name": "Odd", "weight": 1}]}, "priority type not found", id="priority"),
        pytest.param({"priorities": [{"name": "EqualPriority", "weight": 0}]}, "positive weight", id="weight"),
        pytest.param({"priorities": [{"name": "EqualPriority", "weight": 2**63}]}, "has overflown", id="overflow"),
        pytest.param({"hardPodAffinitySymmetricWeight": 101}, "range 1-100", id="symmetric"),
        pytest.param({"scoreScale": 50}, "scoreScale: invalid value 50", id="scale"),
        pytest.param(
            {"predicates": [{"name": "x", "argument": {}}]},
            "exactly 1 predicate argument is required, numArgs: 0, predicate x",
            id="empty predicate argument",
        ),
        pytest.param(
            priorities((1, {**SERVICES[0], **LABELS[0]})),
            "exactly 1 priority argument is required, numArgs: 2, priority p0",
            id="two priority arguments",
        ),
        pytest.param(
            priorities((1, SERVICES[0]), (2, SERVICES[1])),
            'ServiceAntiAffinity  priority "p1" has a different weight with "p0"',
            id="services' weights",
        ),
        pytest.param(
            priorities((1, LABELS[0]), (2, LABELS[1])),
            'LabelPreference  priority "p1" has a different weight with "p0"',
            id="labels' weights",
        ),
        pytest.param(
            priorities((1, RATIO), (1, RATIO)),
            'priority "p1" redeclares custom priority "RequestedToCapacityRatio", from: "p0"',
            id="two ratios",
        ),
        pytest.param(
            priorities((1, RATIO), (1, RATIO), scoreScale=10),
            'priority "p1" redeclares custom priority "RequestedToCapacityRatio", from: "p0"',
            id="two ratios of old",
        ),
    ],
)
def test_a_bad_policy_is_refused(policy, message):
    with pytest.raises(UsageError, match=message):
        from_policy(policy, PROVIDER)


def test_several_custom_priorities_of_one_weight_add_up():
    policy = priorities((3, SERVICES[0]), (3, SERVICES[1]), (2, LABELS[0]), (2, LABELS[1]))

    provider = from_policy(policy, PROVIDER)

    assert provider.scores == {"ServiceAffinity": 6, "NodeLabel": 4}
    assert provider.settings["ServiceAffinity"] == {"antiAffinityLabelsPreference": ["zone", "rack"]}
    assert provider.settings["NodeLabel"] == {"presentLabelsPreference": ["ssd"], "absentLabelsPreference": ["old"]}


def test_a_priority_that_is_named_twice_has_its_last_weight():
    policy = {"priorities": [{"name": "ImageLocalityPriority", "weight": weight} for weight in (2, 5)]}

    assert from_policy(policy, PROVIDER).scores == {"ImageLocality": 5}


@pytest.mark.parametrize("name", PRIORITIES)
def test_on_the_old_scale_each_priority_is_the_plugin_of_its_name(name):
    policy = {"scoreScale": 10, "priorities": [{"name": name, "weight": 3}]}

    assert from_policy(policy, PROVIDER).scores == {name: 3}


def test_on_the_old_scale_no_priorities_mean_those_of_1_x():
    provider = from_policy({"scoreScale": 10}, PROVIDER)

    assert provider.scores == LEGACY_DEFAULTS
    assert provider.filters == PROVIDER.filters
    assert from_policy({"scoreScale": 100}, PROVIDER) == from_policy({}, PROVIDER)


def test_on_the_old_scale_custom_priorities_may_weigh_differently():
    policy = priorities((2, SERVICES[0]), (6, SERVICES[1]), (5, LABELS[0]), (1, RATIO), scoreScale=10)

    provider = from_policy(policy, PROVIDER)

    assert provider.scores == {
        "RequestedToCapacityRatioPriority": 1, "ServiceAntiAffinity": 2, "LabelPreference": 5,
    }  # fmt: skip
    assert provider.settings == {
        "RequestedToCapacityRatioPriority": {"shape": [{"utilization": 0, "score": 10}], "resources": []},
        "ServiceAntiAffinity": {"labels": [{"label": "zone", "weight": 1}, {"label": "rack", "weight": 3}]},
        "LabelPreference": {"preferences": [{"label": "ssd", "presence": True, "weight": 1}]},
        "InterPodAffinity": {"hardPodAffinityWeight": 1},
    }


def test_on_the_old_scale_the_symmetric_weight_reaches_the_priority():
    policy = {
        "scoreScale": 10,
        "predicates": [{"name": "MatchInterPodAffinity"}],
        "priorities": [{"name": "InterPodAffinityPriority", "weight": 1}],
        "hardPodAffinitySymmetricWeight": 7,
    }

    settings = from_policy(policy, PROVIDER).settings

    assert settings["InterPodAffinityPriority"] == {"hardPodAffinityWeight": 7}
    assert settings["InterPodAffinity"] == {"hardPodAffinityWeight": 7}


def test_on_the_old_scale_an_extenders_points_weigh_as_much_as_a_prioritys():
    row = {"urlPrefix": "http://127.0.0.1:1", "prioritizeVerb": "rank", "weight": 2}
    names = [{"name": "LeastRequestedPriority", "weight": 3}]

    today = from_policy({"priorities": names, "extenders": [row]}, PROVIDER)
    old = from_policy({"priorities": names, "extenders": [row], "scoreScale": 10}, PROVIDER)

    assert today.scores == {"NodeResourcesLeastAllocated": 3, "Extenders": 1}
    assert old.scores == {"LeastRequestedPriority": 30, "Extenders": 1}  # a point of an extender counts tenfold


def test_a_policy_is_left_as_it_was():
    policy = priorities((2, SERVICES[0]), (2, SERVICES[1]))
    policy["predicates"] = [{"name": "x", "argument": {"serviceAffinity": {"labels": ["region"]}}}]
    before = repr(policy)

    from_policy(policy, PROVIDER)
    from_policy({**policy, "scoreScale": 10}, PROVIDER)

    assert repr(policy) == before
