"""Binding a pod to its node."""

import importlib.util
from pathlib import Path

import pytest
from hyperkube_api.core.pods.binding import bind

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import ApiError, BadRequest, Conflict

_spec = importlib.util.spec_from_file_location("calls", Path(__file__).parents[1] / "calls.py")
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
