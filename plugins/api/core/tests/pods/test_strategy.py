"""How pods are created, updated, resized and deleted."""

import importlib.util
from copy import deepcopy
from pathlib import Path

import pytest
from hyperkube_api.core.pods.defaults import default_pod
from hyperkube_api.core.pods.strategy import EphemeralContainersStrategy, PodStrategy, ResizeStrategy
from hyperkube_api.core.v1_pods import Lifecycle

from hyperkube.hookspecs.api_services import ApiServices

_spec = importlib.util.spec_from_file_location("calls", Path(__file__).parents[1] / "calls.py")
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)


def a_pod(**spec):
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "ns", "creationTimestamp": "2026-01-01T11:58:00Z"},
        "spec": {"containers": [{"name": "c", "image": "nginx:1.25", "resources": {}}], **spec},
        "status": {},
    }
    default_pod(made)
    return made


def test_a_specification_that_passed_once_vouches_for_equal_ones_only():
    call, unprivileged = calls.a_call(), calls.a_call(services=ApiServices(allow_privileged=False))
    container = {"name": "c", "image": "i", "securityContext": {"privileged": True}}
    claim = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}

    assert PodStrategy().validate(call, a_pod(containers=[container])) == []
    assert PodStrategy().validate(call, a_pod(containers=[container])) == []
    assert len(PodStrategy().validate(unprivileged, a_pod(containers=[container]))) == 1
    assert len(PodStrategy().validate(call, a_pod(containers=[{**container, "name": "C"}]))) == 1
    assert PodStrategy().validate(call, a_pod(volumes=[claim]))


def errors_of(**spec):
    return [str(error) for error in PodStrategy().validate(calls.a_call(), a_pod(**spec))]


def test_a_new_pod_is_pending_and_a_gated_one_says_so():
    pod = a_pod(schedulingGates=[{"name": "example.com/g"}])

    PodStrategy().prepare_create(calls.a_call(), pod)

    assert pod["status"]["phase"] == "Pending"
    assert pod["status"]["conditions"][0]["reason"] == "SchedulingGated"


def test_match_label_keys_become_part_of_the_selector():
    constraint = {"labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": ["rev"]}
    pod = a_pod(topologySpreadConstraints=[constraint])
    pod["metadata"]["labels"] = {"rev": "7"}

    PodStrategy().prepare_create(calls.a_call(), pod)

    expressions = pod["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchExpressions"]
    assert expressions == [{"key": "rev", "operator": "In", "values": ["7"]}]


@pytest.mark.parametrize(
    ("spec", "status", "requested", "seconds"),
    [
        ({"nodeName": "n", "terminationGracePeriodSeconds": 30}, {}, None, 30),
        ({"nodeName": "n", "terminationGracePeriodSeconds": 30}, {}, 5, 5),
        ({"terminationGracePeriodSeconds": 30}, {}, None, 0),
        ({"nodeName": "n"}, {"phase": "Failed"}, 5, 0),
        ({"nodeName": "n"}, {}, -1, 1),
    ],
    ids=["its own", "asked for", "never bound", "finished", "negative"],
)
def test_a_pod_gets_time_to_end_only_if_it_runs(spec, status, requested, seconds):
    pod = {"metadata": {}, "spec": spec, "status": status}

    assert PodStrategy().grace_seconds(calls.a_call(), pod, requested) == seconds


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": []}, ["spec.containers: Required value"]),
        (
            {"restartPolicy": "Maybe"},
            ['spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"'],
        ),
        (
            {"tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 3}]},
            [
                "spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set"
            ],
        ),
        (
            {"volumes": [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}]},
            ["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
        ),
        (
            {"ephemeralContainers": [{"name": "e", "image": "x"}]},
            ["spec.ephemeralContainers: Forbidden: cannot be set on create"],
        ),
        (
            {
                "os": {"name": "linux"},
                "containers": [{"name": "c", "image": "nginx:1.25", "lifecycle": {"stopSignal": "KILL"}}],
                "securityContext": {"windowsOptions": {}},
            },
            [
                'spec.containers[0].lifecycle.stopSignal: Unsupported value: "KILL": supported values: '
                + ", ".join(f'"{name}"' for name in Lifecycle().fields["stopSignal"].enum),
                "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
            ],
        ),
        ({}, []),
    ],
    ids=["no container", "restart policy", "toleration", "two sources", "ephemeral", "system", "fine"],
)
def test_a_bad_pod_is_refused_in_kubernetes_words(spec, expected):
    assert errors_of(**spec) == expected


def test_requests_stay_below_limits():
    resources = {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}

    (error,) = errors_of(containers=[{"name": "c", "image": "i", "resources": resources}])

    assert (
        error
        == 'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'
    )


def test_an_update_may_change_the_image_and_little_else():
    old = a_pod()
    image, moved = deepcopy(old), deepcopy(old)
    image["spec"]["containers"][0]["image"] = "nginx:2"
    moved["spec"]["nodeName"] = "n"

    assert PodStrategy().validate_update(calls.a_call(), image, old) == []
    (error,) = PodStrategy().validate_update(calls.a_call(), moved, old)
    assert error.detail.startswith("pod updates may not change fields other than `spec.containers[*].image`")
    assert '- "NodeName": "",\n+ "NodeName": "n",\n' in error.detail


def test_ephemeral_containers_are_added_and_never_removed():
    old = a_pod()
    old["spec"]["ephemeralContainers"] = [
        {"name": "e", "image": "x", "imagePullPolicy": "Always", "terminationMessagePolicy": "File"}
    ]
    new = a_pod(restartPolicy="Never")
    strategy, call = EphemeralContainersStrategy(), calls.a_call()

    strategy.prepare_update(call, new, old)
    errors = strategy.validate_update(call, new, old)

    assert new["spec"]["restartPolicy"] == "Always"
    assert [error.detail for error in errors] == ['existing ephemeral containers "e" may not be removed\n']


def test_a_resize_keeps_the_class():
    old = a_pod(containers=[{"name": "c", "image": "i:1", "resources": {"requests": {"cpu": "1"}}}])
    old["status"] = {"qosClass": "Burstable"}
    new = deepcopy(old)
    new["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}}
    strategy, call = ResizeStrategy(), calls.a_call()

    strategy.prepare_update(call, new, old)

    assert strategy.validate_update(call, new, old) == []
    assert new["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2"}


RESTARTS = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
CLAIMING = {"requests": {"cpu": "1"}, "claims": [{"name": "g"}]}
OF_INITS = "spec.initContainers[0]: Forbidden: "
NO_RESTART = (
    'spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": '
    "must not be set to 'RestartContainer' for non-sidecar initContainers"
)
ONLY_COMPUTE = "only cpu and memory resources"


@pytest.mark.parametrize(
    ("member", "before", "change", "expected"),
    [
        ("initContainers", {}, {"resources": {"requests": {"cpu": "2"}}}, []),
        ("containers", {}, {"resizePolicy": RESTARTS}, [f"spec: Forbidden: {ONLY_COMPUTE} are mutable"]),
        ("containers", {"resources": CLAIMING}, {}, [f"spec: Forbidden: {ONLY_COMPUTE} are mutable"]),
        (
            "initContainers",
            {"restartPolicy": "Always"},
            {"resizePolicy": RESTARTS},
            [f"{OF_INITS}{ONLY_COMPUTE} for init or sidecar containers are mutable"],
        ),
        (
            "initContainers",
            {"resizePolicy": RESTARTS},
            {"resources": {"requests": {"cpu": "2"}}},
            [
                NO_RESTART,
                f"{OF_INITS}non-sidecar init containers with a resize policy of RestartContainer cannot be resized",
            ],
        ),
        (
            "initContainers",
            {},
            {"resources": {}},
            ["spec.initContainers[0].resources.requests: Forbidden: resource requests cannot be removed"],
        ),
    ],
    ids=["an-init-container", "a-policy", "with-claims", "policy-of-a-sidecar", "an-init-that-restarts", "removed"],
)
def test_only_cpu_and_memory_are_resized(member, before, change, expected):
    both = {
        name: [{"name": name[0], "image": "i:1", "resources": {"requests": {"cpu": "1"}}}]
        for name in ("containers", "initContainers")
    }
    both[member][0] |= before
    old = a_pod(**both, resourceClaims=[{"name": "g", "resourceClaimName": "g"}])
    old["status"] = {"qosClass": "Burstable"}
    new = deepcopy(old)
    new["spec"][member][0] |= change
    strategy, call = ResizeStrategy(), calls.a_call()

    strategy.prepare_update(call, new, old)

    assert [str(error) for error in strategy.validate_update(call, new, old)] == expected
