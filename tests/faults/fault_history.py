"""What clients did and what they were answered, and whether a store that does one thing at a time could have said so.

The watch tells the order of all changes, by resource version. Against that order each answer is held: a write has its
place in it, after all that was answered before it began and before all that began after it was answered; a read or a
refusal fits the state at some moment between its question and its answer; a list is the state at its own version. What
was not answered may have happened once or not at all.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

ABSENT = None
WRITES = ("create", "update", "put")


@dataclass(frozen=True, slots=True)
class Change:
    """One event of a watch."""

    kind: str
    key: str
    version: int
    value: str
    uid: str


@dataclass(slots=True)
class Operation:
    """One request.

    Attributes:
        verb: create, update (of a known version), put (of whatever is there), delete, get or list.
        expected: the version that an update is for.
        began: seconds.
        ended: seconds; for ever if there was no answer.
        answer: done, absent, conflict, or unknown (no answer, or one that leaves it open).
        version: of the object or list that was answered.
        found: of a list, key → value.
    """

    verb: str
    key: str
    value: str
    began: float
    expected: int = 0
    ended: float = float("inf")
    answer: str = "unknown"
    version: int = 0
    uid: str = ""
    found: dict[str, str] = field(default_factory=dict)

    def __str__(self):
        return f"{self.verb} {self.key} {self.value!r} -> {self.answer} at {self.version} [{self.began:.3f}, {self.ended:.3f}]"


class Recorder:
    """A list of operations that many threads add to."""

    def __init__(self):
        self._lock = threading.Lock()
        self.operations: list[Operation] = []

    def add(self, operation):
        with self._lock:
            self.operations.append(operation)


class _Order:
    """The changes in the order of their versions, and what is known of time from the operations."""

    def __init__(self, changes, operations):
        self.changes = sorted(changes, key=lambda change: change.version)
        self.of_key: dict[str, list[Change]] = {}
        for change in self.changes:
            self.of_key.setdefault(change.key, []).append(change)
        self.by_value = {change.value: change for change in self.changes if change.kind != "DELETED"}
        gone = {change.uid: change.version for change in self.changes if change.kind == "DELETED"}
        ends, begins = [], []
        for one in operations:
            made = self.by_value.get(one.value) if one.verb in WRITES else None
            version = gone.get(one.uid, 0) if one.verb == "delete" else one.version
            if version:
                ends.append((one.ended, version))
            if made is not None or (one.verb == "delete" and version):
                begins.append((one.began, made.version if made is not None else version))
        ends.sort()
        begins.sort(reverse=True)
        self._ends = [end for end, _ in ends]
        self._reached = list(_running(max, [version for _, version in ends]))
        self._begins = [-began for began, _ in begins]
        self._pending = list(_running(min, [version for _, version in begins]))

    def reached(self, time):
        """Return the version that was surely reached before a time."""
        place = bisect_left(self._ends, time)
        return self._reached[place - 1] if place else 0

    def unreached(self, time):
        """Return a version that was surely not reached at a time."""
        place = bisect_left(self._begins, -time)
        return self._pending[place - 1] if place else float("inf")

    def spans(self, key):
        """Yield (change or None, first version, version at which it ends) for each state of a key."""
        changes = self.of_key.get(key, [])
        ends = [change.version for change in changes[1:]] + [float("inf")]
        yield ABSENT, 0, changes[0].version if changes else float("inf")
        for change, end in zip(changes, ends, strict=False):
            yield (ABSENT if change.kind == "DELETED" else change), change.version, end

    def may_be(self, operation, fits):
        """Tell whether a key was in a fitting state at some moment of an operation."""
        low, high = self.reached(operation.began), self.unreached(operation.ended)
        return any(fits(state) for state, begin, end in self.spans(operation.key) if end > low and begin < high)

    def before(self, change):
        """Return the state of the key that a change replaced."""
        changes = self.of_key[change.key]
        place = bisect_left(changes, change.version, key=lambda one: one.version)
        return changes[place - 1] if place and changes[place - 1].kind != "DELETED" else ABSENT

    def state_at(self, version):
        """Return key → value at a version."""
        state = {}
        for key, changes in self.of_key.items():
            place = bisect_right(changes, version, key=lambda one: one.version)
            if place and changes[place - 1].kind != "DELETED":
                state[key] = changes[place - 1].value
        return state


def _running(pick, numbers):
    best = None
    for number in numbers:
        best = number if best is None else pick(best, number)
        yield best


def problems(operations, changes):
    """Return what no store that does one thing at a time could have answered, as sentences.

    Args:
        operations: all requests; each write has a value of its own.
        changes: all events of one watch from before the first request to after the last.
    """
    order = _Order(changes, operations)
    found = [*_watch_problems(changes), *_surprises(order, operations)]
    for operation in operations:
        check = _CHECKS.get((operation.verb, operation.answer))
        if check is not None and (reason := check(order, operation)):
            found.append(f"{reason}: {operation}")
    return found


def _watch_problems(changes):
    last, state = 0, {}
    for change in changes:
        if change.version <= last:
            yield f"a watch went back from {last}: {change}"
        last = change.version
        if (change.kind == "ADDED") == (change.key in state):
            yield f"a watch lost a change before {change}"
        if change.kind == "DELETED":
            state.pop(change.key, None)
        else:
            state[change.key] = change.value


def _surprises(order, operations):
    """Yield changes that nobody asked for or that were refused, and deletions that were answered twice."""
    tried = {one.value: one for one in operations if one.verb in WRITES}
    seen = set()
    for change in order.changes:
        if change.kind == "DELETED":
            continue
        operation = tried.get(change.value)
        if operation is None:
            yield f"nobody wrote {change}"
        elif operation.answer in {"conflict", "absent"}:
            yield f"it was refused and done: {operation}"
        if change.value in seen:
            yield f"it was done twice: {change}"
        seen.add(change.value)
    deleted = [one.uid for one in operations if (one.verb, one.answer) == ("delete", "done")]
    for uid in {uid for uid in deleted if deleted.count(uid) > 1}:
        yield f"a deletion was answered twice: {uid}"


def _written(order, operation):
    change = order.by_value.get(operation.value)
    if change is None:
        return "an answered write is lost"
    if change.version != operation.version:
        return f"the watch has it at {change.version}"
    if not order.reached(operation.began) < change.version:
        return f"it is older than what was answered before it began ({order.reached(operation.began)})"
    if change.version >= order.unreached(operation.ended):
        return "it is newer than what began after it was answered"
    before = order.before(change)
    if operation.verb == "create":
        return "it was created over another" if before is not ABSENT else ""
    if before is ABSENT:
        return "it was updated out of nothing"
    if operation.verb == "update" and before.version != operation.expected:
        return f"it replaced {before.version}, not {operation.expected}"
    return ""


def _read(order, operation):
    fits = order.may_be(operation, lambda state: state is not ABSENT and state.version == operation.version)
    if not fits:
        return "it was not the state at any moment of the read"
    change = order.by_value.get(operation.value)
    together = change is not None and change.version == operation.version
    return "" if together else "value and version do not go together"


def _listed(order, operation):
    if operation.version < order.reached(operation.began):
        return f"the list is older than what was answered before ({order.reached(operation.began)})"
    state = order.state_at(operation.version)
    return (
        "" if state == operation.found else f"the list was not the state at its version: {operation.found} != {state}"
    )


def _deleted(order, operation):
    gone = [one for one in order.of_key.get(operation.key, []) if one.kind == "DELETED" and one.uid == operation.uid]
    if len(gone) != 1:
        return f"{len(gone)} deletions were seen"
    low, high = order.reached(operation.began), order.unreached(operation.ended)
    return "" if low < gone[0].version <= high else f"it was deleted at another time ({gone[0].version})"


def _was_absent(order, operation):
    return "" if order.may_be(operation, lambda state: state is ABSENT) else "it was there all the time"


def _was_there(order, operation):
    return "" if order.may_be(operation, lambda state: state is not ABSENT) else "it was never there"


def _was_another(order, operation):
    fits = order.may_be(operation, lambda state: state is ABSENT or state.version != operation.expected)
    return "" if fits else "there was no conflict"


_CHECKS = {
    ("create", "done"): _written,
    ("update", "done"): _written,
    ("put", "done"): _written,
    ("get", "done"): _read,
    ("list", "done"): _listed,
    ("delete", "done"): _deleted,
    ("create", "conflict"): _was_there,
    ("update", "conflict"): _was_another,
    ("update", "absent"): _was_absent,
    ("put", "absent"): _was_absent,
    ("get", "absent"): _was_absent,
    ("delete", "absent"): _was_absent,
}
