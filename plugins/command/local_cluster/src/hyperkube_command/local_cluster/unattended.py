"""What nothing acts on: kinds of the API whose controller is not installed here, or switched off.

The API server takes such an object, as Kubernetes does, and nothing ever happens; so it is told which they are and says
so in a warning.
"""

from __future__ import annotations

from collections.abc import Collection

ACTED_ON_BY = {
    "certificatesigningrequests.certificates.k8s.io": "csrsigning",
    "cronjobs.batch": "cronjob",
    "daemonsets.apps": "daemonset",
    "deployments.apps": "deployment",
    "horizontalpodautoscalers.autoscaling": "horizontalpodautoscaling",
    "jobs.batch": "job",
    "persistentvolumeclaims": "persistentvolume-binder",
    "poddisruptionbudgets.policy": "disruption",
    "replicasets.apps": "replicaset",
    "replicationcontrollers": "replicationcontroller",
    "resourcequotas": "resourcequota",
    "statefulsets.apps": "statefulset",
}
"""Resource → the controller without which an object of it is a mere note."""


def unattended(running: Collection[str]) -> list[str]:
    """Return the resources that no controller acts on, as ``resource.group``; `running`: the controllers that run."""
    return [resource for resource, controller in ACTED_ON_BY.items() if controller not in running]
