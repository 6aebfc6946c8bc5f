"""Where a newcomer goes wrong, the cluster says what to do."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest
from local_cluster import HYPERKUBE, eventually, pod, run

NOT_INSTALLED = "no controller for {} is installed: nothing will act on this object"


def test_an_image_that_is_not_the_machine_is_explained(room):
    room.apply(pod("stranger", "sleep 1", image="nginx:1.27"))

    described = eventually(lambda: "Failed" in (text := room.kubectl("describe", "pod", "stranger").out) and text)

    assert 'image "nginx:1.27" cannot be run' in described.replace("'", '"')
    assert "set image: host and give a command" in described
    table = eventually(
        lambda: "ErrImagePull" in (text := room.kubectl("get", "pods").out) or "ImagePullBackOff" in text
    )
    assert table


TEMPLATE = {
    "metadata": {"labels": {"app": "x"}},
    "spec": {"containers": [{"name": "x", "image": "host", "command": ["true"]}]},
}
WORKLOAD = {"selector": {"matchLabels": {"app": "x"}}, "template": TEMPLATE}
JOB = {"spec": {"template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}}
NEEDING_A_CONTROLLER = {
    "statefulset": ("statefulsets", "apps/v1", "StatefulSet", {**WORKLOAD, "serviceName": "x"}),
    "daemonset": ("daemonsets", "apps/v1", "DaemonSet", WORKLOAD),
    "cronjob": ("cronjobs", "batch/v1", "CronJob", {"schedule": "0 0 * * *", "jobTemplate": JOB}),
    "persistentvolume-binder": (
        "persistentvolumeclaims",
        "v1",
        "PersistentVolumeClaim",
        {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    ),
    "horizontalpodautoscaling": (
        "horizontalpodautoscalers",
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}},
    ),
}


@pytest.mark.parametrize("controller", NEEDING_A_CONTROLLER)
def test_a_kind_that_nothing_acts_on_is_warned_about(room, controller):
    resource, version, kind, spec = NEEDING_A_CONTROLLER[controller]
    if controller in {entry.name for entry in entry_points(group="hyperkube.controller")}:
        pytest.skip("this controller is installed")

    answer = room.apply({"apiVersion": version, "kind": kind, "metadata": {"name": "x"}, "spec": spec})

    assert f"Warning: {NOT_INSTALLED.format(resource)}" in answer.err


def test_a_kind_that_is_acted_on_brings_no_warning(room):
    answer = room.kubectl("create", "deployment", "quiet", "--image=host", "--replicas=0", "--", "true")

    assert answer.err == ""


def test_why_changed_needs_no_flag_and_obeys_kubeconfig(room, up):
    room.apply(pod("asked", "sleep 60"))

    said = run([HYPERKUBE, "why", "changed", "pod/asked", "-n", room.name], env=up.environment()).out

    assert "CREATE pods asked" in said
    assert "ServiceAccount" in said
