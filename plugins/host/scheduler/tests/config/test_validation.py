"""What a KubeSchedulerConfiguration cannot say: each refusal in Kubernetes' words."""

import pytest
from hyperkube_host.scheduler.config.validation import validate

from hyperkube.machinery.errors import UsageError


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"parallelism": 1, "percentageOfNodesToScore": 0},
        {"profiles": [{"percentageOfNodesToScore": 100, "pluginConfig": [{"name": "A"}, {"name": "B"}]}]},
        {"podInitialBackoffSeconds": 10},
        {"podInitialBackoffSeconds": 3.0, "podMaxBackoffSeconds": 3.0},
        {"extenders": [{"prioritizeVerb": "p", "weight": 1, "bindVerb": "b"}, {"filterVerb": "f"}]},
        {"extenders": [{"managedResources": [{"name": "a.test/x"}, {"name": "a.test/y"}]}]},
    ],
    ids=["nothing", "least", "profiles", "first back-off", "equal back-offs", "extenders", "resources"],
)
def test_what_can_be_is_taken(given):
    validate(given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"parallelism": 0}, "parallelism: Invalid value: 0: should be an integer value greater than zero"),
        ({"parallelism": "x"}, 'parallelism: Invalid value: "x": must be a number'),
        ({"percentageOfNodesToScore": 101}, "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"),
        ({"percentageOfNodesToScore": "x"}, 'percentageOfNodesToScore: Invalid value: "x": must be a number'),
        (
            {"profiles": [{}, {"percentageOfNodesToScore": -1}]},
            "profiles[1].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]",
        ),
        (
            {"profiles": [{"pluginConfig": [{"name": "A"}, {"name": "B"}, {"name": "A"}]}]},
            'profiles[0].pluginConfig[2]: Duplicate value: "A"',
        ),
        ({"podInitialBackoffSeconds": 0}, "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"),
        (
            {"podInitialBackoffSeconds": 11},
            "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds",
        ),
        (
            {"podMaxBackoffSeconds": 0},
            "podMaxBackoffSeconds: Invalid value: 0: must be greater than or equal to PodInitialBackoffSeconds",
        ),
        ({"podMaxBackoffSeconds": "x"}, 'podMaxBackoffSeconds: Invalid value: "x": must be a number'),
        (
            {"extenders": [{"prioritizeVerb": "p"}]},
            "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
        ),
        (
            {"extenders": [{"bindVerb": "b"}, {"bindVerb": "b"}]},
            'extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind',
        ),
        (
            {"extenders": [{"managedResources": [{"name": "a.test/x"}]}, {"managedResources": [{"name": "a.test/x"}]}]},
            'extenders[1].managedResources[0].name: Invalid value: "a.test/x": duplicate extender managed resource name',
        ),
    ],
)
def test_what_cannot_be_is_refused(given, message):
    with pytest.raises(UsageError) as refused:
        validate(given)

    assert str(refused.value) == message


def test_all_problems_are_told_at_once():
    with pytest.raises(UsageError) as refused:
        validate({"parallelism": -1, "podInitialBackoffSeconds": -1})

    assert str(refused.value) == (
        "[parallelism: Invalid value: -1: should be an integer value greater than zero,"
        " podInitialBackoffSeconds: Invalid value: -1: must be greater than 0]"
    )
