"""What nothing acts on: kinds of the API whose controller is not installed here, or switched off.

The API server takes such an object, as Kubernetes does, and nothing ever happens; so it is told which they are and says
so in a warning.
"""

from __future__ import annotations

from collections.abc import Collection

from hyperkube.plugin.defaults import acting_on

ACTED_ON_BY_OTHERS = {
    "ingresses.networking.k8s.io": "ingress",
    "networkpolicies.networking.k8s.io": "networkpolicy",
}
"""Resource → the name of the controller that a third party may bring: none comes with Kubernetes itself."""

LOAD_BALANCERS = "services/LoadBalancer"
"""Services of that type, which only a cloud provider gives an address."""


def unattended(running: Collection[str], *, has_cloud: bool) -> list[str]:
    """Return the resources that nothing acts on, as ``resource.group``.

    The bundle knows which controller or addon it would be: one that is not installed cannot say so itself.

    Args:
        running: the controllers and addons that run.
        has_cloud: whether a cloud provider is told.
    """
    actors: dict[str, set[str]] = {}
    for table in (acting_on(), ACTED_ON_BY_OTHERS, acting_on("addon")):
        for resource, name in table.items():
            actors.setdefault(resource, set()).add(name)
    resources = [resource for resource, names in actors.items() if names.isdisjoint(running)]
    return resources if has_cloud else [*resources, LOAD_BALANCERS]
