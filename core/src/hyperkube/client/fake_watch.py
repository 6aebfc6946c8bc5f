"""What the fake API server needs to select objects and to play its journal to watchers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hyperkube.client.client import WatchEvent
from hyperkube.machinery.fields import parse_field_selector
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.labels import parse_selector
from hyperkube.machinery.objects import Object, copy_object, key_of, labels_of, namespace_of

Matcher = Callable[[Object], bool]
JournalEntry = tuple[GroupVersionResource, WatchEvent]


class _DottedFields(Mapping[str, str]):
    """Every field of an object by its dotted path, as text; what is not there is the empty string."""

    def __init__(self, obj: Object) -> None:
        self._object = obj

    def __getitem__(self, path: str) -> str:
        value: Any = self._object
        for part in path.split("."):
            value = value.get(part, "") if isinstance(value, dict) else ""
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._object)

    def __len__(self) -> int:
        return len(self._object)


def matcher(namespace: str, label_selector: str, field_selector: str) -> Matcher:
    """Return the test whether an object belongs to a list or watch."""
    labels = parse_selector(label_selector)
    fields = parse_field_selector(field_selector)

    def matches(obj: Object) -> bool:
        if namespace and namespace_of(obj) != namespace:
            return False
        return labels.matches(labels_of(obj)) and fields.matches(_DottedFields(obj))

    return matches


class FakeWatch:
    """A watch on the journal; what starts to match is added, what stops to match is deleted."""

    def __init__(
        self,
        condition: threading.Condition,
        journal: Sequence[JournalEntry],
        position: int,
        resource: GroupVersionResource,
        matches: Matcher,
    ) -> None:
        self._condition = condition
        self._journal = journal
        self._position = position
        self._resource = resource
        self._matches = matches
        self._closed = False
        self._known: set[str] = set()
        for entry in journal[:position]:
            self._seen(entry)

    def __iter__(self) -> Iterator[WatchEvent]:
        while True:
            with self._condition:
                while not self._closed and self._position >= len(self._journal):
                    self._condition.wait()
                if self._closed:
                    return
                entry = self._journal[self._position]
                self._position += 1
            event = self._seen(entry)
            if event is not None:
                yield WatchEvent(event.type, copy_object(event.object))

    def _seen(self, entry: JournalEntry) -> WatchEvent | None:
        """Note an entry; return the event that this watcher gets for it."""
        resource, event = entry
        if resource != self._resource:
            return None
        key = key_of(event.object)
        if event.type == "DELETED" or not self._matches(event.object):
            if key not in self._known:
                return None
            self._known.discard(key)
            return WatchEvent("DELETED", event.object)
        known = key in self._known
        self._known.add(key)
        return WatchEvent("MODIFIED" if known else "ADDED", event.object)

    def close(self) -> None:
        """End the iteration."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
