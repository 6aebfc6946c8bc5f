"""Binding, eviction, tokens and scale."""

import importlib.util
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hyperkube_api.core.pods.binding import bind
from hyperkube_api.core.pods.eviction import evict
from hyperkube_api.core.scale import scale as declare_scale
from hyperkube_api.core.scale import scale_of
from hyperkube_api.core.service_accounts.token import create_token
from hyperkube_api.meta.specs import Version

from hyperkube.kinds.resources import DEPLOYMENTS, POD_DISRUPTION_BUDGETS, PODS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import ApiError, BadRequest, Conflict, Invalid, TooManyRequests

_spec = importlib.util.spec_from_file_location("calls", Path(__file__).with_name("calls.py"))
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)


def a_pod(**more):
    meta = {"name": "p", "namespace": "ns", "uid": "u", "labels": {"app": "a"}}
    return {"metadata": meta, "spec": {}, "status": {"phase": "Running"}, **more}


def binding(**more):
    return {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}, **more}


def test_binding_gives_a_pod_its_node_once():
    stored = calls.Stored((PODS, a_pod()))

    assert bind(calls.a_call(stored, body=binding()))["status"] == "Success"

    bound = stored.get(PODS, "p", "ns")
    assert bound["spec"]["nodeName"] == "n"
    assert bound["status"]["conditions"][0]["type"] == "PodScheduled"
    with pytest.raises(Conflict, match='pod p is already assigned to node "n"'):
        bind(calls.a_call(stored, body=binding()))


@pytest.mark.parametrize(
    ("pod", "body", "error"),
    [
        (a_pod(), binding(metadata={"name": "q"}), BadRequest),
        (a_pod(), binding(target={"name": ""}), ApiError),
        (a_pod(spec={"schedulingGates": [{"name": "g"}]}), binding(), Conflict),
        (a_pod(), binding(metadata={"name": "p", "uid": "other"}), Conflict),
    ],
    ids=["another name", "no node", "gated", "another pod"],
)
def test_a_wrong_binding_is_refused(pod, body, error):
    with pytest.raises(error):
        bind(calls.a_call(calls.Stored((PODS, pod)), body=body))


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


class Signer:
    def __init__(self):
        self.claims = {}

    def issue(self, **claims):
        self.claims = claims
        return "token", datetime(2026, 1, 1, tzinfo=UTC)


def test_a_token_is_issued_for_the_account_and_its_pod():
    account = {"metadata": {"name": "sa", "namespace": "ns", "uid": "s"}}
    stored, signer = calls.Stored((SERVICE_ACCOUNTS, account), (PODS, a_pod())), Signer()
    spec = {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p"}}
    options = {"service-account-signer": signer, "service-account-issuer": "https://issuer"}

    answer = create_token(calls.a_call(stored, name="sa", body={"spec": spec}, options=options))

    assert answer["status"] == {"token": "token", "expirationTimestamp": "2026-01-01T00:00:00Z"}
    assert answer["spec"]["audiences"] == ["https://issuer"]
    assert (signer.claims["seconds"], signer.claims["bound"]["metadata"]["name"]) == (3600, "p")


def test_a_token_lives_ten_minutes_at_least():
    account = {"metadata": {"name": "sa", "namespace": "ns"}}
    call = calls.a_call(
        calls.Stored((SERVICE_ACCOUNTS, account)),
        name="sa",
        body={"spec": {"expirationSeconds": 5}},
        options={"service-account-signer": Signer()},
    )

    with pytest.raises(Invalid, match="less than 10 minutes"):
        create_token(call)


def a_deployment(replicas=2):
    return {
        "metadata": {"name": "d", "namespace": "ns", "uid": "u", "resourceVersion": "7"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "a"}}},
        "status": {"replicas": 1},
    }


def test_scale_shows_wished_and_counted_replicas():
    scale = scale_of(a_deployment())

    assert scale["spec"] == {"replicas": 2}
    assert scale["status"] == {"replicas": 1, "selector": "app=a"}


def test_scale_changes_replicas_of_the_version_that_was_read():
    stored = calls.Stored((DEPLOYMENTS, a_deployment()))
    handler = declare_scale(Version("apps", "v1", "x"), "deployments").handler
    wish = {"metadata": {"name": "d", "resourceVersion": "7"}, "spec": {"replicas": 5}}

    handler(calls.a_call(stored, name="d", verb="update", body=wish))

    assert stored.get(DEPLOYMENTS, "d", "ns")["spec"]["replicas"] == 5
    stale = {**wish, "metadata": {"name": "d", "resourceVersion": "6"}}
    with pytest.raises(Conflict):
        handler(calls.a_call(stored, name="d", verb="update", body=stale))
