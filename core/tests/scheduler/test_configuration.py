"""Three ways to write a set of plugins come down to one; mistakes are named."""

import pytest

pytest.importorskip("hyperkube_scheduler.default_provider")

from hyperkube_scheduler.default_provider import PROVIDER

from hyperkube.hookspecs.scheduling import FilterPlugin, QueueSortPlugin, ReservePlugin, ScorePlugin
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.loader import installed
from hyperkube.scheduler.configuration import POINTS, from_object, to_object
from hyperkube.scheduler.policy import PREDICATES, PRIORITIES, from_policy


class Both(FilterPlugin, ScorePlugin):
    """A plugin of somebody's with two points."""


class Sorter(QueueSortPlugin):
    """Another order."""


SHAPES = {"Both": Both, "Sorter": Sorter, "Reserves": ReservePlugin}


def shape(name):
    return SHAPES.get(name, Both)


def read(*profiles, **more):
    obj = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **more}
    return from_object({**obj, "profiles": list(profiles)}, PROVIDER, shape)


def test_no_profiles_mean_the_default_one():
    configuration = read()

    assert list(configuration.profiles) == ["default-scheduler"]
    assert configuration.profiles["default-scheduler"].scores == PROVIDER.scores


def test_points_and_weights_are_merged_over_the_defaults():
    plugins = {
        "score": {"disabled": [{"name": "ImageLocality"}], "enabled": [{"name": "NodeAffinity", "weight": 7}]},
        "filter": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeName"}]},
        "multiPoint": {"enabled": [{"name": "Both", "weight": 3}]},
    }

    provider = read({"schedulerName": "mine", "plugins": plugins}).profiles["mine"]

    assert provider.filters == ("NodeName",)
    assert "ImageLocality" not in provider.scores
    assert provider.scores["NodeAffinity"] == 7
    assert provider.scores["Both"] == 3
    assert next(iter(provider.scores)) == "TaintToleration"


def test_multi_point_disables_everywhere():
    plugins = {"multiPoint": {"disabled": [{"name": "TaintToleration"}]}}

    provider = read({"plugins": plugins}).profiles["default-scheduler"]

    assert "TaintToleration" not in provider.plugin_names()


def test_another_queue_order_replaces_the_usual_one():
    plugins = {"multiPoint": {"enabled": [{"name": "Sorter"}]}}

    assert read({"plugins": plugins}).profiles["default-scheduler"].queue_sort == "Sorter"


def test_arguments_reach_their_plugin():
    args = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "X", "hardPodAffinityWeight": 5}

    provider = read({"pluginConfig": [{"name": "InterPodAffinity", "args": args}]}).profiles["default-scheduler"]

    assert provider.settings["InterPodAffinity"] == {"hardPodAffinityWeight": 5}


def test_extenders_filter_and_score_last():
    extender = {"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 2}

    provider = read({}, extenders=[extender]).profiles["default-scheduler"]

    assert provider.filters[-1] == "Extenders"
    assert "Extenders" in provider.scores
    assert provider.settings["Extenders"]["extenders"] == [extender]


@pytest.mark.parametrize(
    ("profiles", "message"),
    [
        pytest.param([{"schedulerName": "a"}, {"schedulerName": "a"}], "duplicate value 'a'", id="twice"),
        pytest.param([{"plugins": {"scoring": {}}}], "unknown extension point", id="point"),
        pytest.param([{"plugins": {"bind": {"disabled": [{"name": "*"}]}}}], "at least one", id="no-bind"),
        pytest.param([{"plugins": {"filter": {"enabled": [{"name": "Sorter"}]}}}], "does not extend", id="no-filter"),
        pytest.param(
            [{"plugins": {"score": {"enabled": [{"name": "Both", "weight": -1}]}}}], "must be a positive", id="weight"
        ),
    ],
)
def test_mistakes_are_named(profiles, message):
    with pytest.raises(UsageError, match=message):
        read(*profiles)


@pytest.mark.parametrize("version", ["v1beta3", "v1beta2", "v1beta1"])
def test_older_versions_mean_the_same(version):
    profile = {"schedulerName": "mine", "plugins": {"score": {"enabled": [{"name": "NodeAffinity", "weight": 7}]}}}
    header = {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration"}

    older = from_object({**header, "profiles": [profile], "percentageOfNodesToScore": 30}, PROVIDER, shape)

    assert older == read(profile)


def test_what_extenders_ignore_for_the_scheduler_is_not_fitted():
    managed = [{"name": "example.com/gpu", "ignoredByScheduler": True}, {"name": "example.com/fpga"}]
    row = {"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter", "managedResources": managed}

    provider = read({}, extenders=[row]).profiles["default-scheduler"]

    assert provider.settings["NodeResourcesFit"] == {"ignoredResources": ["example.com/gpu"]}


def test_another_kind_is_refused():
    with pytest.raises(UsageError, match="is not kind"):
        from_object({"kind": "Policy", "apiVersion": "v1"}, PROVIDER, shape)


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

    general = ("NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit")
    assert provider.filters == ("NodeUnschedulable", *general, "InterPodAffinity")
    assert provider.scores == {"NodeResourcesLeastAllocated": 2, "SelectorSpread": 3}
    assert provider.settings["InterPodAffinity"]["hardPodAffinityWeight"] == 10


@pytest.mark.parametrize("name", [*PREDICATES, *PRIORITIES])
def test_every_old_name_has_plugins_that_are_installed(name):
    known = installed("scheduler")
    names = PREDICATES.get(name) or (PRIORITIES.get(name, ""),)

    assert [each for each in names if each and each not in known] == []


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
    assert (today["enableHTTPS"], today["httpTimeout"]) == (True, "1.5s")
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
        pytest.param({"hardPodAffinitySymmetricWeight": 101}, "range 1-100", id="symmetric"),
    ],
)
def test_a_bad_policy_is_refused(policy, message):
    with pytest.raises(UsageError, match=message):
        from_policy(policy, PROVIDER)


@pytest.mark.parametrize(
    "default", [PROVIDER, from_policy({"predicates": [], "priorities": []}, PROVIDER)], ids=["usual", "bare"]
)
def test_a_configuration_that_is_written_reads_as_itself(default):
    extender = {"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter", "prioritizeVerb": "rank", "weight": 2}
    plugins = {
        "score": {"disabled": [{"name": "ImageLocality"}], "enabled": [{"name": "NodeAffinity", "weight": 7}]},
        "filter": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeName"}]},
    }
    args = [{"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 5}}]
    configuration = read(
        {"schedulerName": "one", "plugins": plugins, "pluginConfig": args},
        {"schedulerName": "two"},
        extenders=[extender],
        podMaxBackoffSeconds=20,
    )

    again = from_object(to_object(configuration), default, shape_of_any)

    assert again == configuration


def shape_of_any(_name):
    return type("Any", tuple(each for _, each in POINTS.values()), {})
