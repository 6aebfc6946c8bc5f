"""Three ways to write a set of plugins come down to one; mistakes are named."""

import pytest

pytest.importorskip("hyperkube_scheduler.default_provider")

from hyperkube_host.scheduler.config.configuration import POINTS, from_object, to_object
from hyperkube_host.scheduler.config.policy import from_policy
from hyperkube_scheduler.default_provider import PROVIDER

from hyperkube.hookspecs.scheduling import FilterPlugin, QueueSortPlugin, ReservePlugin, ScorePlugin
from hyperkube.machinery.errors import UsageError


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
        pytest.param([{"percentageOfNodesToScore": 101}], r"not in valid range \[0-100\]", id="percentage"),
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


def written(version, *profiles, **more):
    header = {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration"}
    return from_object({**header, "profiles": list(profiles), **more}, PROVIDER, shape)


def test_v1beta3_means_the_same_as_v1():
    profile = {"schedulerName": "mine", "plugins": {"score": {"enabled": [{"name": "NodeAffinity", "weight": 7}]}}}

    assert written("v1beta3", profile, percentageOfNodesToScore=30) == read(profile)


@pytest.mark.parametrize(("version", "more"), [("v1beta2", {}), ("v1beta1", {"NodePreferAvoidPods": 10_000})])
def test_the_usual_weights_of_older_versions(version, more):
    scores = written(version).profiles["default-scheduler"].scores

    assert scores == {
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
        "InterPodAffinity": 1,
        "NodeResourcesFit": 1,
        "NodeAffinity": 1,
        "PodTopologySpread": 2,
        "TaintToleration": 1,
        "DynamicResources": PROVIDER.scores["DynamicResources"],
        **more,
    }


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1"])
def test_older_versions_may_weigh_otherwise(version):
    plugins = {"score": {"enabled": [{"name": "NodeAffinity", "weight": 7}]}}

    scores = written(version, {"plugins": plugins}).profiles["default-scheduler"].scores

    assert (scores["NodeAffinity"], scores["TaintToleration"]) == (7, 1)


@pytest.mark.parametrize("point", ["score", "multiPoint"])
def test_a_plugin_that_is_named_without_weight_weighs_one(point):
    plugins = {point: {"enabled": [{"name": "TaintToleration"}]}}

    assert read({"plugins": plugins}).profiles["default-scheduler"].scores["TaintToleration"] == 1


def test_what_extenders_ignore_for_the_scheduler_is_not_fitted():
    managed = [{"name": "example.com/gpu", "ignoredByScheduler": True}, {"name": "example.com/fpga"}]
    row = {"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter", "managedResources": managed}

    provider = read({}, extenders=[row]).profiles["default-scheduler"]

    assert provider.settings["NodeResourcesFit"] == {"ignoredResources": ["example.com/gpu"]}


def test_another_kind_is_refused():
    with pytest.raises(UsageError, match="is not kind"):
        from_object({"kind": "Policy", "apiVersion": "v1"}, PROVIDER, shape)


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
