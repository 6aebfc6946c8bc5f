"""How long to wait before the next pod: 10 s after a failure, doubled with each one more, up to 10 min.

Source: kubernetes ``pkg/controller/job/backoff_utils.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hyperkube_controller.job.pods import finished_at

from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, uid_of

BACKOFF = Backoff(initial=10.0, cap=600.0)


@dataclass(frozen=True, slots=True)
class BackoffRecord:
    """The failures of a job's pods since the last success, as far as this controller has seen them.

    Attributes:
        failures: how many there were.
        last: when the last one was.
        seen: the uids of pods that are in the record and still wait to be counted: they must not enter it twice.
    """

    failures: int = 0
    last: datetime | None = None
    seen: frozenset[str] = frozenset()

    def with_finished(self, succeeded: Sequence[Object], failed: Sequence[Object]) -> BackoffRecord:
        """Return the record with the pods that ended and have not been counted yet."""
        seen = frozenset(map(uid_of, (*succeeded, *failed)))
        ended = [finished_at(pod) for pod in succeeded if uid_of(pod) not in self.seen]
        lost = sorted(finished_at(pod) for pod in failed if uid_of(pod) not in self.seen)
        if ended:
            lost = [moment for moment in lost if moment > max(ended)]
            return BackoffRecord(len(lost), lost[-1] if lost else None, seen)
        return BackoffRecord(self.failures + len(lost), lost[-1] if lost else self.last, seen)

    def remaining(self, now: datetime) -> float:
        """Return the seconds until the next pod may be made."""
        return remaining(self.failures, self.last, now)


NO_FAILURES = BackoffRecord()


def remaining(failures: int, last: datetime | None, now: datetime) -> float:
    """Return the seconds left of the pause after so many failures, the last of which was then."""
    if not failures or last is None:
        return 0.0
    return max(0.0, BACKOFF.delay(failures) - (now - last).total_seconds())
