"""What comes out of the pipeline: an object, a page of a list, a watch, or an answer that is complete as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_lib.serving.exchange import Answer
from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.watchers import CacheEvent, CacheWatch, Predicate, Transitions

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube_host.apiserver.resources.echo import Echo


@dataclass(slots=True)
class ObjectResult:
    """One object as the answer: parsed, or as the cache's bytes."""

    served: ServedResource | None
    obj: Object | None = None
    cached: CachedObject | None = None
    status: int = 200
    body: bytes = b""
    """The JSON of `obj`, where it was made already."""
    written: CachedObject | None = None
    """The watch cache's copy of `obj`, where that was just written: its watchers are sent the same encodings."""
    template: bytes = b""
    """Of a new object of a template that is known: what tells it from others (`template_text`)."""
    echo: Echo | None = None
    """Of a new object that came as a message: what writes its body, by its metadata."""


def success(resource: GroupResource, name: str, uid: str = "") -> ObjectResult:
    """Return the Status that answers the deletion of an object."""
    details: Object = {"name": name, **({"group": resource.group} if resource.group else {}), "kind": resource.resource}
    if uid:
        details["uid"] = uid
    return ObjectResult(
        None, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
    )


@dataclass(slots=True)
class ListPage:
    """A list as the answer; the objects are the cache's, or computed ones."""

    served: ServedResource
    objects: Sequence[CachedObject]
    revision: int
    continue_token: str = ""
    remaining: int | None = None
    computed: Sequence[Object] | None = None


class WatchSignal:
    """Tells the reader of a watch that there is something; a signal that comes before the reader is kept."""

    __slots__ = ("_reader", "_sent")

    def __init__(self) -> None:
        self._reader: Callable[[], None] | None = None
        self._sent = False

    def __call__(self, _watch: CacheWatch) -> None:
        """Tell the reader; called by the cache, on the thread of the write."""
        # No lock: this sets before it looks, and so does `connect`. Whichever comes second finds what the first has
        # set, so a signal is never lost; the reader may be told twice, and then finds nothing to drain.
        self._sent = True
        reader = self._reader
        if reader is not None:
            reader()

    def connect(self, reader: Callable[[], None]) -> None:
        """Call `reader` from now on, at once if there was a signal before."""
        self._reader = reader
        if self._sent:
            reader()


@dataclass(slots=True)
class OpenedWatch:
    """A watch as the answer; the encoder, or the client in this process, closes it.

    Attributes:
        watch: None when it could not begin; `error` says why and is its only event.
        signal: sent when the watch has something to drain.
        accepts: what has to be true of objects in the version that is watched; it may ask a webhook.
    """

    served: ServedResource
    watch: CacheWatch | None
    signal: WatchSignal
    bookmarks: bool
    seconds: float
    error: ApiError | None = None
    accepts: Predicate | None = None

    def selected(self, events: Sequence[CacheEvent]) -> Sequence[CacheEvent]:
        """Return of drained events those that the client sees; where a webhook converts, it is asked once for all.

        Raises:
            ApiError: an object cannot be converted.
        """
        accepts = self.accepts
        if accepts is None:
            return events
        both = [obj for event in events for obj in (event.object, event.previous) if obj is not None]
        self.served.parsed_all(both)
        seen = [event if event.object is None else Transitions(event).seen_by(accepts) for event in events]
        return [event for event in seen if event is not None]


@dataclass(slots=True)
class RawResult:
    """An answer that is complete as it is: bytes, a stream, or an upgrade."""

    answer: Answer


Result: TypeAlias = ObjectResult | ListPage | OpenedWatch | RawResult
