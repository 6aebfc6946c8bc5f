"""Where a workload keeps its pod template."""

from __future__ import annotations

from hyperkube.machinery.objects import Object

TEMPLATE_PATHS: dict[str, tuple[str, ...]] = {
    "Pod": (),
    "PodTemplate": ("template",),
    "ReplicationController": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "Deployment": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}
"""Kind → members on the way from the object to its pod template; a Pod is its own."""

TEMPLATE_RESOURCES: dict[tuple[str, str], str] = {
    ("", "pods"): "Pod",
    ("", "podtemplates"): "PodTemplate",
    ("", "replicationcontrollers"): "ReplicationController",
    ("apps", "replicasets"): "ReplicaSet",
    ("apps", "deployments"): "Deployment",
    ("apps", "statefulsets"): "StatefulSet",
    ("apps", "daemonsets"): "DaemonSet",
    ("batch", "jobs"): "Job",
    ("batch", "cronjobs"): "CronJob",
}
"""(group, resource) → kind, for all resources that hold a pod template."""


def template_of(obj: Object, kind: str = "") -> Object | None:
    """Return the pod template of a workload (a Pod is its own), or None if it has none.

    Args:
        obj: the workload.
        kind: its kind, where the object does not say it itself.
    """
    path = TEMPLATE_PATHS.get(kind or str(obj.get("kind", "")))
    if path is None:
        return None
    here: Object = obj
    for name in path:
        below = here.get(name)
        if not isinstance(below, dict):
            return None
        here = below
    return here
