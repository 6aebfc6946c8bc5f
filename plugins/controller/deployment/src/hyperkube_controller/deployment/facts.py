"""Reading a deployment and its replica sets: numbers, annotations, which one is new.

Source: kubernetes ``pkg/controller/deployment/util/deployment_util.go``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from hyperkube.kinds.workloads import same_template
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.intstr import scaled_or
from hyperkube.machinery.objects import Object, annotations_of, metadata, name_of

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
REVISION_HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAX = "deployment.kubernetes.io/max-replicas"
ROLLBACK_TO = "deprecated.deployment.rollback.to"
NOT_COPIED = frozenset({
    "kubectl.kubernetes.io/last-applied-configuration", REVISION, REVISION_HISTORY, DESIRED, MAX, ROLLBACK_TO,
})  # fmt: skip
NO_DEADLINE = 2**31 - 1
_COUNT = re.compile("[0-9]{1,10}")
_REVISION = re.compile("[+-]?[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Observed:
    """All that a decision knows.

    Attributes:
        deployment: the deployment.
        replica_sets: those it controls, in any order.
        old_pods_left: whether pods of other templates are still there (asked for by Recreate only).
        now: the time.
        shows_terminating: whether the status has ``terminatingReplicas``.
    """

    deployment: Object
    replica_sets: Sequence[Object]
    old_pods_left: bool
    now: datetime
    shows_terminating: bool = True

    @property
    def spec(self) -> Object:
        """The deployment's spec."""
        return self.deployment.get("spec") or {}

    @property
    def new(self) -> Object | None:
        """The replica set of the present template: the oldest one, should there be several."""
        template = self.spec.get("template") or {}
        fitting = (
            rs
            for rs in by_age(self.replica_sets)
            if same_template((rs.get("spec") or {}).get("template") or {}, template, ignored_label=HASH_LABEL)
        )
        return next(fitting, None)

    @property
    def old(self) -> list[Object]:
        """The other replica sets, oldest first."""
        new = self.new
        return [rs for rs in by_age(self.replica_sets) if rs is not new]

    @property
    def wanted(self) -> int:
        """``spec.replicas``."""
        return int(self.spec.get("replicas", 1))

    @property
    def is_rolling(self) -> bool:
        """Whether the strategy is RollingUpdate."""
        return str((self.spec.get("strategy") or {}).get("type", "RollingUpdate")) == "RollingUpdate"

    @property
    def is_paused(self) -> bool:
        """Whether the rollout is paused."""
        return bool(self.spec.get("paused"))

    @property
    def rollback_to(self) -> int | None:
        """The revision that a rollback asks for, 0 for the one before the last; None for no rollback."""
        return revision_annotation(self.deployment, ROLLBACK_TO)

    @property
    def deadline(self) -> int | None:
        """Seconds without progress after which the rollout has failed; None for never."""
        seconds = self.spec.get("progressDeadlineSeconds")
        return None if seconds is None or seconds == NO_DEADLINE else int(seconds)

    def resolve_fenceposts(self) -> tuple[int, int]:
        """Return (max surge, max unavailable) in pods; surge rounds up, unavailable down, and one is at least 1."""
        if not self.is_rolling:
            return 0, 0
        rolling = (self.spec.get("strategy") or {}).get("rollingUpdate") or {}
        surge = scaled_or(rolling.get("maxSurge"), "25%", self.wanted, round_up=True)
        unavailable = scaled_or(rolling.get("maxUnavailable"), "25%", self.wanted, round_up=False)
        if not surge and not unavailable:
            unavailable = 1
        return surge, min(unavailable, self.wanted)


def by_age(replica_sets: Iterable[Object]) -> list[Object]:
    """Return the replica sets, oldest first, by name among those of the same second."""
    return sorted(replica_sets, key=lambda rs: (metadata(rs).get("creationTimestamp", ""), name_of(rs)))


def replicas_of(replica_set: Object | None) -> int:
    """Return ``spec.replicas``; 0 for none."""
    return 0 if replica_set is None else int((replica_set.get("spec") or {}).get("replicas", 1))


def status_count(replica_set: Object | None, key: str) -> int:
    """Return a number of the status, e.g. ``availableReplicas``."""
    return 0 if replica_set is None else int((replica_set.get("status") or {}).get(key, 0))


def total(replica_sets: Iterable[Object]) -> int:
    """Return the sum of ``spec.replicas``."""
    return sum(replicas_of(rs) for rs in replica_sets)


def status_total(replica_sets: Iterable[Object], key: str) -> int:
    """Return the sum of a number of the status."""
    return sum(status_count(rs, key) for rs in replica_sets)


def number_annotation(obj: Object, key: str) -> int | None:
    """Return an annotation that is a number of pods, or None for anything else."""
    text = annotations_of(obj).get(key, "")
    return int(text) if _COUNT.fullmatch(text) and int(text) < 2**31 else None


def revision_annotation(obj: Object, key: str) -> int | None:
    """Return an annotation that is the number of a revision, or None."""
    text = annotations_of(obj).get(key, "")
    return int(text) if _REVISION.fullmatch(text) and -(2**63) <= int(text) < 2**63 else None


def revision_of(obj: Object) -> int:
    """Return the revision annotation; 0 for none."""
    return revision_annotation(obj, REVISION) or 0
