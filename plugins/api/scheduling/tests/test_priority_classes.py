"""How the API server serves PriorityClasses."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.scheduling.priority_classes import PriorityClassStrategy, priority_class_cells
from hyperkube_api.scheduling.resources import SchedulingApi

from hyperkube.hookspecs.base import PluginContext
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import Forbidden

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


def texts(errors):
    return [str(error) for error in errors]


def test_a_priority_class_says_whom_it_preempts():
    errors = PriorityClassStrategy().validate(None, {"metadata": {"name": "a"}, "preemptionPolicy": ""})

    assert texts(errors) == ["preemptionPolicy: Required value"]


@pytest.mark.parametrize(
    ("obj", "shown"),
    [
        ({"value": 1}, [1, False, "5m", ""]),
        ({"value": -5, "globalDefault": True, "preemptionPolicy": "Never"}, [-5, True, "5m", "Never"]),
    ],
    ids=["least", "rich"],
)
def test_a_priority_class_row(obj, shown):
    assert priority_class_cells({"metadata": META, **obj}, NOW) == ["a", *shown]


@pytest.fixture
def classes():
    return SchedulingApi(PluginContext(name="scheduling", clock=FakeClock())).api_bootstrap_objects()


def test_they_cannot_be_deleted(classes):
    with pytest.raises(Forbidden) as caught:
        PriorityClassStrategy().before_delete(None, classes[0])

    assert caught.value.message == (
        'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: '
        "this is a system priority class and cannot be deleted"
    )


def test_others_can():
    PriorityClassStrategy().before_delete(None, {"metadata": {"name": "mine"}})
