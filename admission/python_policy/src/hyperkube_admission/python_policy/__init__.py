"""PythonPolicy: a policy is a typed Python function that may look things up and has a time budget.

::

    @validates("pods")
    def no_latest(review: Review, cluster: Cluster) -> str | None:
        if any(":latest" in container["image"] for container in review.object["spec"]["containers"]):
            return "images must be pinned"
        return None

Policies run in processes of their own, which are killed when a policy takes longer than it may. This module is what
authors import, and all that those processes load; the plugin itself is `hyperkube_admission.python_policy.plugin`.
"""

from hyperkube_admission.python_policy.cluster import Cluster, FixedCluster, LookupRefused
from hyperkube_admission.python_policy.declaration import mutates, validates
from hyperkube_admission.python_policy.review import Deny, Patch, Review, User

__all__ = ["Cluster", "Deny", "FixedCluster", "LookupRefused", "Patch", "Review", "User", "mutates", "validates"]
