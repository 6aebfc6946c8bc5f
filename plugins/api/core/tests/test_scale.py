"""``/scale`` of workloads."""

import importlib.util
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hyperkube_api.core.scale import scale as declare_scale
from hyperkube_api.core.scale import scale_cells, scale_of
from hyperkube_api.meta.specs import Version

from hyperkube.kinds.resources import DEPLOYMENTS
from hyperkube.machinery.errors import Conflict

_spec = importlib.util.spec_from_file_location("calls", Path(__file__).with_name("calls.py"))

calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)


def a_deployment(replicas=2):
    return {
        "metadata": {"name": "d", "namespace": "ns", "uid": "u", "resourceVersion": "7"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "a"}}},
        "status": {"replicas": 1},
    }


def test_scale_shows_desired_and_observed_replicas():
    scale = scale_of(a_deployment())

    assert scale["spec"] == {"replicas": 2}
    assert scale["status"] == {"replicas": 1, "selector": "app=a"}


def test_scale_changes_replicas_of_the_version_that_was_read():
    stored = calls.Stored((DEPLOYMENTS, a_deployment()))
    handler = declare_scale(Version("apps", "v1", "x"), "deployments").handler
    wanted = {"metadata": {"name": "d", "resourceVersion": "7"}, "spec": {"replicas": 5}}

    handler(calls.a_call(stored, name="d", verb="update", body=wanted))

    assert stored.get(DEPLOYMENTS, "d", "ns")["spec"]["replicas"] == 5
    stale = {**wanted, "metadata": {"name": "d", "resourceVersion": "6"}}
    with pytest.raises(Conflict):
        handler(calls.a_call(stored, name="d", verb="update", body=stale))


NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


@pytest.mark.parametrize(
    ("obj", "shown"), [({}, [0, 0]), ({"spec": {"replicas": 5}, "status": {"replicas": 3}}, [5, 3])]
)
def test_a_scale_row_shows_the_desired_and_the_available_replicas(obj, shown):
    assert scale_cells({"metadata": META, **obj}, NOW) == ["a", *shown, "5m"]
