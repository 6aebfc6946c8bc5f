"""Eviction of pods, which disruption budgets may refuse."""

import importlib.util
from pathlib import Path

import pytest
from hyperkube_api.core.pods.eviction import evict

from hyperkube.kinds.resources import POD_DISRUPTION_BUDGETS, PODS
from hyperkube.machinery.errors import ApiError, TooManyRequests

_spec = importlib.util.spec_from_file_location("calls", Path(__file__).parents[1] / "calls.py")
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)


def a_pod(**more):
    meta = {"name": "p", "namespace": "ns", "uid": "u", "labels": {"app": "a"}}
    return {"metadata": meta, "spec": {}, "status": {"phase": "Running"}, **more}


def a_budget(allowed):
    return {
        "metadata": {"name": "b", "namespace": "ns", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "a"}}},
        "status": {"observedGeneration": 1, "disruptionsAllowed": allowed, "desiredHealthy": 1, "currentHealthy": 1},
    }


def ready_pod():
    return a_pod(status={"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})


def test_eviction_spends_the_budget():
    stored = calls.Stored((PODS, ready_pod()), (POD_DISRUPTION_BUDGETS, a_budget(1)))

    evict(calls.a_call(stored, body={"metadata": {"name": "p"}}))

    budget = stored.get(POD_DISRUPTION_BUDGETS, "b", "ns")
    assert budget["status"]["disruptionsAllowed"] == 0
    assert list(budget["status"]["disruptedPods"]) == ["p"]
    assert stored.deleted[0][1] == "p"


def test_eviction_is_refused_when_the_budget_is_spent():
    stored = calls.Stored((PODS, ready_pod()), (POD_DISRUPTION_BUDGETS, a_budget(0)))

    with pytest.raises(TooManyRequests) as refused:
        evict(calls.a_call(stored, body={"metadata": {"name": "p"}}))

    assert refused.value.causes[0]["reason"] == "DisruptionBudget"
    assert stored.deleted == []


def test_a_finished_pod_costs_no_budget():
    stored = calls.Stored((PODS, a_pod(status={"phase": "Failed"})), (POD_DISRUPTION_BUDGETS, a_budget(0)))

    evict(calls.a_call(stored, body={"metadata": {"name": "p"}}))

    assert stored.deleted[0][1] == "p"


@pytest.mark.parametrize(
    ("asked", "own", "result"),
    [
        pytest.param(False, [], None, id="none"),
        pytest.param(True, [], ["All"], id="of-the-request"),
        pytest.param(False, ["All"], ["All"], id="of-the-eviction"),
        pytest.param(True, ["All"], ["All"], id="of-both"),
        pytest.param(False, ["Some"], ["Some"], id="what-a-deletion-refuses"),
    ],
)
def test_the_pod_is_deleted_with_the_dry_run_of_either(asked, own, result):
    stored = calls.Stored((PODS, a_pod()))
    call = calls.a_call(stored, body={"metadata": {"name": "p"}, "deleteOptions": {"dryRun": own}})
    call.dry_run = asked

    evict(call)

    assert (stored.deleted[0][-1].get("dryRun") or None) == result


def test_two_dry_runs_are_one():
    call = calls.a_call(
        calls.Stored((PODS, a_pod())), body={"metadata": {"name": "p"}, "deleteOptions": {"dryRun": ["Some"]}}
    )
    call.dry_run = True

    with pytest.raises(ApiError, match=r"in request and content: \[All\] and \[Some\]"):
        evict(call)
