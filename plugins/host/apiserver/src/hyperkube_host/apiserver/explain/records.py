"""The records of explanations: two rings of bounded size, one of changes and one of refusals.

A change is kept as the object's JSON before and after each plugin, and becomes a patch when it is asked for. All but
the latest records become compressed texts of many, one every few seconds, beside the requests, and the others at rest.
A user who is refused again and again pushes out other refusals, but no change.
"""

from __future__ import annotations

import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from datetime import datetime
from itertools import islice
from sys import getrefcount
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, Forbidden
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.objects import Object, name_of, uid_of
from hyperkube.machinery.recent import forgets
from hyperkube.machinery.times import format_time

KEPT = 1000
"""Records of either sort."""
KEPT_LOOSE = 32
"""The latest records stay as they are: their requests may be under way."""
TOGETHER = 64
"""Records of a text, at most. They are alike, so that together they take a fraction of what each takes by itself."""
PACK_SECONDS = 5.0
"""From one text to the next, at least: a record in it costs a twentieth of a pod's creation. Of many most just go."""
_FASTEST = 1
"""Level of zlib: of 64 alike the best one makes half as much, in twice the time."""
KEPT_BYTES = 4 * 1024 * 1024
"""JSON that the records of changes hold together; the oldest go first."""
_SECRET = (GroupResource("", "secrets"), GroupResource("", "serviceaccounts"))
HIDDEN = "(hidden)"


@dataclass(frozen=True, slots=True)
class Subject:
    """What was asked for, and by whom."""

    audit_id: str
    at: datetime
    user: str
    verb: str
    resource: GroupResource
    subresource: str
    namespace: str
    name: str

    def parts(self) -> list[str]:
        """Return what `of` makes it of, as JSON can hold it."""
        place = (self.resource.group, self.resource.resource, self.subresource, self.namespace, self.name)
        return [self.audit_id, self.at.isoformat(), self.user, self.verb, *place]

    @classmethod
    def of(cls, parts: Sequence[str]) -> Subject:
        """Return what `parts` told."""
        audit_id, at, user, verb, group, resource, *place = parts
        return cls(audit_id, datetime.fromisoformat(at), user, verb, GroupResource(group, resource), *place)

    def shown(self) -> Object:
        """Return it as answers show it."""
        return {
            "auditID": self.audit_id,
            "time": format_time(self.at),
            "user": self.user,
            "verb": self.verb,
            "resource": str(self.resource),
            "subresource": self.subresource,
            "namespace": self.namespace,
            "name": self.name,
        }


class Step(NamedTuple):
    """The turn of a mutating plugin that changed something: how long it took, the object's JSON before and after."""

    plugin: str
    seconds: float
    before: bytes
    after: bytes

    def shown(self, *, secret: bool) -> Object:
        """Return it as answers show it, the values hidden where they are secret."""
        from hyperkube_host.apiserver.explain.json_difference import json_difference  # with the first question

        patch = json_difference(orjson.loads(self.before), orjson.loads(self.after))
        if secret:
            patch = [{**one, "value": HIDDEN} if "value" in one else one for one in patch]
        return {"plugin": self.plugin, "microseconds": round(self.seconds * 1e6), "patch": patch}


@dataclass(slots=True)
class Change:
    """A write that plugins changed.

    Attributes:
        stored: whether the write went through; not for a dry run, or when it failed after all.
    """

    subject: Subject
    uid: str
    steps: list[Step]
    dry_run: bool
    stored: bool = True

    @property
    def size(self) -> int:
        """The bytes it holds."""
        return sum(len(step.before) + len(step.after) for step in self.steps)

    def parts(self) -> list[Any]:
        """Return what `of` makes it of, as JSON can hold it; a step that begins where the last one ended says so."""
        steps: list[tuple[str, float, str | None, str]] = []
        last: bytes | None = None
        for plugin, seconds, before, after in self.steps:
            steps.append((plugin, seconds, None if before == last else before.decode(), after.decode()))
            last = after
        return [self.subject.parts(), self.uid, steps, self.dry_run, self.stored]

    @classmethod
    def of(cls, parts: Sequence[Any]) -> Change:
        """Return what `parts` told."""
        subject, uid, steps, dry_run, stored = parts
        read: list[Step] = []
        for plugin, seconds, before, after in steps:
            read.append(Step(plugin, seconds, read[-1].after if before is None else before.encode(), after.encode()))
        return cls(Subject.of(subject), uid, read, dry_run, stored)

    def failed(self) -> None:
        """Note that nothing was stored."""
        self.stored = False

    def shown(self) -> Object:
        """Return it as answers show it."""
        secret = self.subject.resource in _SECRET
        return {
            **self.subject.shown(),
            "uid": self.uid,
            "dryRun": self.dry_run,
            "stored": self.stored and not self.dry_run,
            "microseconds": round(sum(step.seconds for step in self.steps) * 1e6),
            "plugins": [step.shown(secret=secret) for step in self.steps],
        }


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that an admission plugin, or authorization, refused."""

    subject: Subject
    by: str
    code: int
    reason: str
    message: str

    def shown(self) -> Object:
        """Return it as answers show it."""
        told = {"by": self.by, "code": self.code, "reason": self.reason, "message": self.message}
        return {**self.subject.shown(), **told}

    def parts(self) -> list[Any]:
        """Return what `of` makes it of, as JSON can hold it."""
        return [self.subject.parts(), self.by, self.code, self.reason, self.message]

    @classmethod
    def of(cls, parts: Sequence[Any]) -> Refusal:
        """Return what `parts` told."""
        subject, *told = parts
        return cls(Subject.of(subject), *told)


Record = TypeVar("Record", Change, Refusal)


class Ring(Generic[Record]):
    """The latest records, in order; with a clock they become texts on its thread, else when all rests."""

    def __init__(
        self, kind: type[Record], most: int = KEPT, most_bytes: int = KEPT_BYTES, *, clock: Clock | None = None
    ) -> None:
        self._kind: type[Record] = kind
        self._clock = clock
        self._waits = False
        """Whether the clock is to call."""
        self._lock = threading.Lock()
        self._packing = threading.Lock()
        """Held by who makes texts; taken before the other one."""
        self._taken: Sequence[Record] = ()
        """The records, between the texts' and the others, that are becoming a text."""
        self._texts: deque[tuple[int, bytes]] = deque()
        """Of those before `_records`, with how many are in each: they are forgotten together."""
        self._records: deque[tuple[Record, int]] = deque()
        self._most = most
        self._most_bytes = most_bytes
        self._count = self._bytes = 0
        forgets(self)

    def __len__(self) -> int:
        return self._count

    def add(self, record: Record, size: int = 0) -> None:
        """Keep a record, and let go of as many old ones as it takes."""
        with self._lock:
            self._records.append((record, size))
            self._count += 1
            self._bytes += size
            self._trim()
            begins = self._clock is not None and not self._waits and self._has_many
            self._waits = self._waits or begins
        if begins and self._clock is not None:
            self._clock.call_later(PACK_SECONDS, self._pack_beside)

    def forget(self) -> None:
        """Keep the records, but for the latest as texts."""
        with self._packing:
            while (count := min(len(self._records) - KEPT_LOOSE, TOGETHER)) > 0:
                self._pack(count)

    @property
    def _has_many(self) -> bool:
        return len(self._records) >= KEPT_LOOSE + TOGETHER

    def _pack_beside(self) -> None:
        """Make a text of the oldest records if no request can change them any more, and come back for the others."""
        assert self._clock is not None  # noqa: S101  it has called
        with self._packing:
            with self._lock:
                ended = sum(getrefcount(record) <= _ALONE for record, _ in islice(self._records, TOGETHER))
                has_many = self._waits = self._has_many
            if has_many and ended == TOGETHER:
                self._pack(TOGETHER)
        if has_many:
            self._clock.call_later(PACK_SECONDS, self._pack_beside)

    def _pack(self, count: int) -> None:
        """Make a text of the oldest records; zlib works without the lock, which who adds a record would wait for."""
        with self._lock:
            taken = [self._records.popleft() for _ in range(min(count, len(self._records)))]
            self._taken = [record for record, _ in taken]
        text = zlib.compress(orjson.dumps([record.parts() for record in self._taken]), _FASTEST)
        with self._lock:
            self._texts.append((len(taken), text))
            self._taken = ()
            self._bytes += len(text) - sum(size for _, size in taken)
            self._trim()

    def latest_first(self) -> Iterator[Record]:
        """Yield the records."""
        with self._lock:
            texts, records = [*self._texts], list(self._taken)
            records += [record for record, _ in self._records]
        yield from reversed(records)
        for _, text in reversed(texts):
            for parts in reversed(orjson.loads(zlib.decompress(text))):
                yield self._kind.of(parts)

    def _trim(self) -> None:
        """Let go of what is too much, but not past the records that are becoming a text."""
        while (self._count > self._most or self._bytes > self._most_bytes) and (
            self._texts or (self._records and not self._taken)
        ):
            self._let_go()

    def _let_go(self) -> None:
        """Let go of the oldest record, or of the oldest text's."""
        if self._texts:
            count, text = self._texts.popleft()
            size = len(text)
        else:
            count, size = 1, self._records.popleft()[1]
        self._count -= count
        self._bytes -= size


(_ALONE,) = [getrefcount(record) for record, _ in [(object(), 0)]]
"""How many references there are to a record that only a ring has."""


@dataclass(slots=True)
class Explanations:
    """All that one API server remembers.

    Attributes:
        records_changes: whether mutations are compared and kept.
        reasons: says, the nearest first, what would allow a request; None when refusals do not tell.
    """

    clock: Clock
    records_changes: bool = False
    reasons: Callable[[Attributes], list[str]] | None = None
    changes: Ring[Change] = field(init=False)
    refusals: Ring[Refusal] = field(init=False)

    def __post_init__(self) -> None:
        """Begin without records."""
        self.changes, self.refusals = Ring(Change, clock=self.clock), Ring(Refusal, clock=self.clock)

    def changed(self, request: AdmissionRequest, steps: list[Step]) -> None:
        """Keep what plugins made of an admitted object."""
        change = Change(self._subject(request), str(uid_of(request.object or {})), steps, request.dry_run)
        request.on_failure.append(change.failed)
        self.changes.add(change, change.size)

    def refused(self, request: AdmissionRequest, by: str, error: ApiError) -> None:
        """Keep what an admission plugin refused."""
        status: dict[str, Any] = error.status()
        self.refusals.add(
            Refusal(self._subject(request), by, int(status["code"]), str(status.get("reason", "")), error.message)
        )

    def forbidden(self, attributes: Attributes, audit_id: str, error: ApiError) -> ApiError:
        """Keep what authorization refused; return the refusal, with its reasons where the server tells them."""
        if self.reasons is not None:
            why = self.reasons(attributes)
            error = Forbidden(f"{error.message} (why: {why[0]})", details=error.details)
            error.details["causes"] = [{"reason": "Explanation", "message": text} for text in why]
        subject = Subject(
            audit_id,
            self.clock.now(),
            attributes.user.name,
            attributes.verb,
            GroupResource(attributes.group, attributes.resource),
            attributes.subresource,
            attributes.namespace,
            attributes.name if attributes.is_resource else attributes.path,
        )
        self.refusals.add(Refusal(subject, "authorization", 403, "Forbidden", error.message))
        return error

    def _subject(self, request: AdmissionRequest) -> Subject:
        return Subject(
            request.audit_id,
            self.clock.now(),
            request.user.name,
            request.operation,
            request.resource.group_resource,
            request.subresource,
            request.namespace,
            request.name or name_of(request.object or {}),
        )
