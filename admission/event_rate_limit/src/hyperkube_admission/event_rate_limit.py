"""EventRateLimit: events are the first thing to flood a server, so they get a limit of their own.

Each limit is a bucket of tokens: ``burst`` of them, ``qps`` new ones a second; for the whole server, or one bucket for
each namespace, user, or source and object.
Source: kubernetes ``plugin/pkg/admission/eventratelimit``.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import TooManyRequests, UsageError
from hyperkube.plugin import Plugin, PluginContext
from hyperkube.plugin.configuration import check_keys

_CACHE_SIZE = 4096
_EVENT_GROUPS = frozenset({"", "events.k8s.io"})


def _source_and_object(request: AdmissionRequest) -> str:
    event = request.object or {}
    source = event.get("source") or event.get("deprecatedSource") or {}
    about = event.get("involvedObject") or event.get("regarding") or {}
    parts = [source.get(key, "") for key in ("component", "host")]
    parts += [about.get(key, "") for key in ("kind", "namespace", "name", "uid", "apiVersion")]
    return "".join(parts)


_KEYS: Mapping[str, Callable[[AdmissionRequest], str]] = {
    "Server": lambda _request: "",
    "Namespace": lambda request: request.namespace,
    "User": lambda request: request.user.name,
    "SourceAndObject": _source_and_object,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings, as in Kubernetes' ``Configuration`` of ``eventratelimit.admission.k8s.io``.

    Attributes:
        limits: rows of ``type``, ``qps``, ``burst`` and ``cacheSize``.
    """

    limits: list[Any] = field(default_factory=list)


class _Limit:
    """One row of the settings: its buckets, the ones used least recently forgotten first."""

    def __init__(self, row: Any, where: str, clock: Clock) -> None:
        table = check_keys(row, ("type", "qps", "burst", "cacheSize"), where)
        self.type = str(table.get("type") or "")
        if self.type not in _KEYS:
            raise UsageError(f"{where}.type {self.type!r} is unknown (known: {', '.join(_KEYS)})")
        for key in ("qps", "burst"):
            if not isinstance(table.get(key), int) or table[key] <= 0:
                raise UsageError(f"{where}.{key} must be positive")
        self.key_of = _KEYS[self.type]
        self._qps, self._burst = int(table["qps"]), int(table["burst"])
        self._size = 1 if self.type == "Server" else int(table.get("cacheSize") or _CACHE_SIZE)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def takes(self, key: str) -> bool:
        """Take a token of the key's bucket; tell whether there was one."""
        now = self._clock.monotonic()
        with self._lock:
            tokens, since = self._buckets.pop(key, (float(self._burst), now))
            tokens = min(float(self._burst), tokens + (now - since) * self._qps)
            enough = tokens >= 1
            self._buckets[key] = (tokens - enough, now)
            if len(self._buckets) > self._size:
                self._buckets.popitem(last=False)
        return enough


class EventRateLimit(Plugin):
    """Refuses events beyond the limits with 429."""

    may_block = False
    handles = frozenset({"events"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        rows = self.settings(Settings).limits
        if not rows:
            raise UsageError("settings of plugin 'EventRateLimit': limits must not be empty")
        self._limits = [_Limit(row, f"limits[{index}]", context.clock) for index, row in enumerate(rows)]

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Take a token from each bucket that counts the event."""
        if request.resource.resource != "events" or request.resource.group not in _EVENT_GROUPS:
            return
        if request.operation not in {"CREATE", "UPDATE"} or request.dry_run:
            return
        keys = [(limit, limit.key_of(request)) for limit in self._limits]
        reached = [f"limit reached on type {limit.type} for key {key}" for limit, key in keys if not limit.takes(key)]
        if reached:
            raise TooManyRequests(aggregate(reached))
