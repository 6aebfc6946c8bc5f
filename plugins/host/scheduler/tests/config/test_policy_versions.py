"""The policies of each release that upstream promised to go on reading, and the plugins that they come down to.

Source of the rows: kubernetes 1.21 ``pkg/scheduler/apis/config/testing/compatibility_test.go``. SelectorSpreadPriority
is SelectorSpread here, which 1.21 has only without its gate DefaultPodTopologySpread.
"""

import pytest

pytest.importorskip("hyperkube_scheduler.default_provider")

from hyperkube_host.scheduler.config.policy import from_policy
from hyperkube_scheduler.default_provider import PROVIDER

AFFINITY = {"name": "TestServiceAffinity", "argument": {"serviceAffinity": {"labels": ["region"]}}}
PRESENCE = {"name": "TestLabelsPresence", "argument": {"labelsPresence": {"labels": ["foo"], "presence": True}}}
SHAPE = [{"utilization": 0, "score": 0}, {"utilization": 50, "score": 7}]
FOO_BAR = [{"name": "intel.com/foo", "weight": 3}, {"name": "intel.com/bar", "weight": 5}]


def names(text):
    return [{"name": name} for name in text.split()]


def twice(text):
    return [{"name": name, "weight": 2} for name in text.split()]


def apart(name, weight, label):
    return {"name": name, "weight": weight, "argument": {"serviceAntiAffinity": {"label": label}}}


def likes(name, weight, label, *, presence=True):
    return {"name": name, "weight": weight, "argument": {"labelPreference": {"label": label, "presence": presence}}}


def ratio(**more):
    argument = {"requestedToCapacityRatioArguments": {"shape": SHAPE, **more}}
    return {"name": "RequestedToCapacityRatioPriority", "weight": 2, "argument": argument}


BASE = "MatchNodeSelector PodFitsResources PodFitsHostPorts HostName NoDiskConflict"
CLOUDS = "MaxEBSVolumeCount MaxGCEPDVolumeCount MaxAzureDiskVolumeCount"
BY_1_3 = f"{BASE} NoVolumeZoneConflict PodToleratesNodeTaints {CLOUDS} MatchInterPodAffinity"
BY_1_9 = f"{BY_1_3} CheckVolumeBinding"
BY_1_12 = f"{BY_1_9} MaxCSIVolumeCountPred"
BY_1_14 = f"{BY_1_12} MaxCinderVolumeCount"

FIRST = "NodeUnschedulable NodeName NodePorts NodeAffinity NodeResourcesFit VolumeRestrictions TaintToleration"
FIRST = f"{FIRST} NodeLabel ServiceAffinity"
FILTERS_1_2 = f"{FIRST} EBSLimits GCEPDLimits AzureDiskLimits VolumeZone"
FILTERS_1_3 = f"{FILTERS_1_2} InterPodAffinity"
FILTERS_1_9 = f"{FIRST} EBSLimits GCEPDLimits AzureDiskLimits VolumeBinding VolumeZone InterPodAffinity"
LIMITS_1_12 = "EBSLimits GCEPDLimits NodeVolumeLimits AzureDiskLimits"
FILTERS_1_12 = f"{FIRST} {LIMITS_1_12} VolumeBinding VolumeZone InterPodAffinity"
FILTERS_1_14 = f"{FIRST} {LIMITS_1_12} CinderLimits VolumeBinding VolumeZone InterPodAffinity"

SCORED_1_2 = "EqualPriority LeastRequestedPriority BalancedResourceAllocation SelectorSpreadPriority"
SCORED_1_3 = f"{SCORED_1_2} ImageLocalityPriority NodeAffinityPriority TaintTolerationPriority InterPodAffinityPriority"
SCORED_1_4 = f"{SCORED_1_3} NodePreferAvoidPodsPriority MostRequestedPriority"
SCORES_1_1 = {"NodeResourcesBalancedAllocation": 2, "NodeResourcesLeastAllocated": 2, "SelectorSpread": 2}
SCORES_1_3 = {
    **SCORES_1_1,
    **dict.fromkeys(("ImageLocality", "NodeAffinity", "TaintToleration", "InterPodAffinity"), 2),
}
SCORES_1_4 = {**SCORES_1_3, "NodeResourcesMostAllocated": 2, "NodePreferAvoidPods": 2}
SCORES_1_11 = {**SCORES_1_4, "RequestedToCapacityRatio": 2}

VERSIONS = {
    "GeneralPredicate": (
        names("GeneralPredicates"), [],
        "NodeUnschedulable NodeResourcesFit NodeName NodePorts NodeAffinity TaintToleration", {},
    ),
    "MandatoryFilters": ([], [], "NodeUnschedulable TaintToleration", {}),
    "1.0": (
        [*names("MatchNodeSelector PodFitsResources PodFitsPorts NoDiskConflict"), AFFINITY, PRESENCE],
        [
            {"name": "LeastRequestedPriority", "weight": 1},
            {"name": "ServiceSpreadingPriority", "weight": 2},
            apart("TestServiceAntiAffinity", 3, "zone"),
            likes("TestLabelPreference", 4, "bar"),
        ],
        FIRST.replace("NodeName ", ""),
        {"NodeResourcesLeastAllocated": 1, "NodeLabel": 4, "SelectorSpread": 2, "ServiceAffinity": 3},
    ),
    "1.1": (
        [*names(BASE), AFFINITY, PRESENCE],
        [
            *twice(SCORED_1_2),
            apart("TestServiceAntiAffinity1", 3, "zone"),
            apart("TestServiceAntiAffinity2", 3, "region"),
            likes("TestLabelPreference1", 4, "bar"),
            likes("TestLabelPreference2", 4, "foo", presence=False),
        ],
        FIRST,
        {**SCORES_1_1, "NodeLabel": 8, "ServiceAffinity": 6},
    ),
    "1.2": (
        [*names(f"{BASE} NoVolumeZoneConflict {CLOUDS}"), AFFINITY, PRESENCE],
        [
            *twice(f"{SCORED_1_2} NodeAffinityPriority ImageLocalityPriority"),
            apart("TestServiceAntiAffinity", 3, "zone"),
            likes("TestLabelPreference", 4, "bar"),
        ],
        FILTERS_1_2,
        {**SCORES_1_1, "ImageLocality": 2, "NodeAffinity": 2, "NodeLabel": 4, "ServiceAffinity": 3},
    ),
    "1.3": ([*names(BY_1_3), AFFINITY, PRESENCE], twice(SCORED_1_3), FILTERS_1_3, SCORES_1_3),
    "1.4": ([*names(BY_1_3), AFFINITY, PRESENCE], twice(SCORED_1_4), FILTERS_1_3, SCORES_1_4),
    "1.9": ([*names(BY_1_9), AFFINITY, PRESENCE], twice(SCORED_1_4), FILTERS_1_9, SCORES_1_4),
    "1.11": ([*names(BY_1_9), AFFINITY, PRESENCE], [*twice(SCORED_1_4), ratio()], FILTERS_1_9, SCORES_1_11),
    "1.12": ([*names(BY_1_12), AFFINITY, PRESENCE], [*twice(SCORED_1_4), ratio()], FILTERS_1_12, SCORES_1_11),
    "1.14": ([*names(BY_1_14), AFFINITY, PRESENCE], [*twice(SCORED_1_4), ratio()], FILTERS_1_14, SCORES_1_11),
    "1.16": (
        [*names(BY_1_14), AFFINITY, PRESENCE], [*twice(SCORED_1_4), ratio(resources=FOO_BAR)],
        FILTERS_1_14, SCORES_1_11,
    ),
}  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_a_policy_of_each_release_is_read(version):
    predicates, priorities, filters, scores = VERSIONS[version]
    policy = {"kind": "Policy", "apiVersion": "v1", "predicates": predicates, "priorities": priorities}

    provider = from_policy(policy, PROVIDER)

    assert provider.filters == tuple(filters.split())
    assert provider.scores == scores
    binding = ("VolumeBinding",) if "VolumeBinding" in filters else ()
    assert (provider.reserves, provider.pre_binds) == (binding, binding)
    assert (provider.queue_sort, provider.binds) == ("PrioritySort", ("DefaultBinder",))
    assert "DefaultPreemption" in provider.post_filters


@pytest.mark.parametrize("version", [name for name, row in VERSIONS.items() if row[1]])
def test_it_is_read_on_the_old_scale_too(version):
    predicates, priorities, filters, _ = VERSIONS[version]

    provider = from_policy({"predicates": predicates, "priorities": priorities, "scoreScale": 10}, PROVIDER)

    assert provider.filters == tuple(filters.split())
    named = {row["name"]: row["weight"] for row in priorities if "argument" not in row}
    assert provider.scores.items() >= named.items()


TLS = {"insecure": True}
EXTENDER = {
    "urlPrefix": "/prefix", "filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1, "enableHTTPS": True,
    "tlsConfig": TLS, "httpTimeout": "1ns", "nodeCacheCapable": True, "bindVerb": "bind",
}  # fmt: skip
MANAGED = {"managedResources": [{"name": "example.com/foo", "ignoredByScheduler": True}], "ignorable": True}


@pytest.mark.parametrize(
    ("bind", "more"),
    [
        pytest.param("BindVerb", {}, id="1.7"),
        pytest.param("bindVerb", {}, id="1.8 and 1.9"),
        pytest.param("bindVerb", MANAGED, id="1.10 and later"),
    ],
)
def test_an_extender_of_each_release_is_read(bind, more):
    row = {
        "urlPrefix": "/prefix", "filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1, bind: "bind",
        "enableHttps": True, "tlsConfig": {"Insecure": True}, "httpTimeout": 1, "nodeCacheCapable": True, **more,
    }  # fmt: skip

    provider = from_policy({"predicates": [], "priorities": [], "extenders": [row]}, PROVIDER)

    assert provider.settings["Extenders"] == {"extenders": [{**EXTENDER, **more}]}
    assert provider.binds == ("Extenders", "DefaultBinder")
    assert provider.scores == {"Extenders": 1}
