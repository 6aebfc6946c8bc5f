"""What has to be done before the server is well, under the names that Kubernetes gives its start steps.

Monitoring and probes ask for single checks by these names. Kubernetes has many small controllers where this server has
one part that does their work: each name is answered by the part that does what the name says. What is not done here is
not among them.

Source of names and order: kubernetes ``pkg/controlplane/apiserver/server.go``, ``pkg/controlplane/instance.go``,
apiserver ``pkg/server/config.go``, kube-aggregator ``pkg/apiserver/apiserver.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import Enum, auto
from functools import partial

from hyperkube_host.apiserver.health.health import Check

Done = Callable[[], bool]


class Part(Enum):
    """A part of the server that has something to do at its start."""

    PLUGINS = auto()
    """Admission and the other plugins are started."""
    INFORMERS = auto()
    """The server's own informers are started."""
    FLOWS = auto()
    """FlowSchemas and priority levels are in force."""
    STORES = auto()
    """The caches follow their stores."""
    DEFINITIONS = auto()
    """What CustomResourceDefinitions define is served."""
    SYSTEM_OBJECTS = auto()
    """The namespaces, roles, services and the like that a cluster begins with are there."""
    IDENTITY = auto()
    """This server has begun to keep its Lease, for the others to see."""
    API_PLUGINS = auto()
    """The API groups know which addresses and ports are taken."""
    REGISTRATIONS = auto()
    """APIServices are followed, local and remote ones, with their discovery and OpenAPI."""


_STEPS = (
    ("start-apiserver-admission-initializer", Part.PLUGINS),
    ("generic-apiserver-start-informers", Part.INFORMERS),
    ("priority-and-fairness-config-consumer", Part.FLOWS),
    ("priority-and-fairness-filter", Part.FLOWS),
    ("storage-object-count-tracker-hook", Part.STORES),
    ("start-apiextensions-informers", Part.DEFINITIONS),
    ("start-apiextensions-controllers", Part.DEFINITIONS),
    ("crd-informer-synced", Part.DEFINITIONS),
    ("start-system-namespaces-controller", Part.SYSTEM_OBJECTS),
    ("peer-endpoint-reconciler-controller", Part.IDENTITY),
    ("start-cluster-authentication-info-controller", Part.SYSTEM_OBJECTS),
    ("start-kube-apiserver-identity-lease-controller", Part.IDENTITY),
    ("start-kube-apiserver-identity-lease-garbage-collector", Part.IDENTITY),
    ("storage-readiness", Part.STORES),
    ("start-legacy-token-tracking-controller", Part.SYSTEM_OBJECTS),
    ("start-service-ip-repair-controllers", Part.API_PLUGINS),
    ("rbac/bootstrap-roles", Part.SYSTEM_OBJECTS),
    ("scheduling/bootstrap-system-priority-classes", Part.SYSTEM_OBJECTS),
    ("priority-and-fairness-config-producer", Part.FLOWS),
    ("bootstrap-controller", Part.SYSTEM_OBJECTS),
    ("start-kubernetes-service-cidr-controller", Part.SYSTEM_OBJECTS),
    ("start-kube-aggregator-informers", Part.REGISTRATIONS),
    ("apiservice-status-local-available-controller", Part.SYSTEM_OBJECTS),
    ("apiservice-status-remote-available-controller", Part.REGISTRATIONS),
    ("apiservice-registration-controller", Part.REGISTRATIONS),
    ("apiservice-wait-for-first-sync", Part.REGISTRATIONS),
    ("apiservice-discovery-controller", Part.REGISTRATIONS),
    ("kube-apiserver-autoregistration", Part.SYSTEM_OBJECTS),
    ("apiservice-openapi-controller", Part.REGISTRATIONS),
    ("apiservice-openapiv3-controller", Part.REGISTRATIONS),
)
_REGISTRATION = "kube-apiserver-autoregistration"
"""The step that registers what is served; the check whether all of it is registered follows."""


class PostStartHooks:
    """Which parts of one server have done what they do at the start.

    A part either says so once (`finish`), or is asked whenever a check is made (`follow`).

    Args:
        parts: those that the server has; the others have no checks.
    """

    def __init__(self, parts: Collection[Part]) -> None:
        self._parts = frozenset(parts)
        self._done: dict[Part, Done] = {}

    def finish(self, part: Part) -> None:
        """Note that a part has done what it does."""
        self._done[part] = lambda: True

    def follow(self, part: Part, done: Done) -> None:
        """Ask a part itself."""
        self._done[part] = done

    def is_done(self, part: Part) -> bool:
        """Tell whether a part has done what it does."""
        done = self._done.get(part)
        return done is not None and done()

    def checks(self) -> list[Check]:
        """Return the checks under Kubernetes' names."""
        return start_checks({part: partial(self.is_done, part) for part in self._parts})


def start_checks(done: Mapping[Part, Done]) -> list[Check]:
    """Return the checks of the parts that the server has, and of the registration of all that it serves."""
    registering = [done[part] for part in (Part.SYSTEM_OBJECTS, Part.REGISTRATIONS) if part in done]
    completion = Check("autoregister-completion", lambda: all(each() for each in registering), starts=True)
    checks: list[Check] = []
    for name, part in _STEPS:
        if part in done:
            checks.append(Check(f"poststarthook/{name}", done[part], starts=True))
        if name == _REGISTRATION:
            checks.append(completion)
    return checks
