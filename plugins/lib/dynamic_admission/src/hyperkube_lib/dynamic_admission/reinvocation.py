"""Which plugins are asked again because a later one changed the object.

A webhook or policy whose ``reinvocationPolicy`` is ``IfNeeded`` is asked a second time, once, when a later one changed
what it saw. Source: kubernetes apiserver ``pkg/admission/reinvocation.go``,
``pkg/admission/plugin/webhook/mutating/reinvocationcontext.go``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, copy_object


@dataclass(slots=True)
class Rounds:
    """What one plugin remembers of one request between the rounds."""

    asked: set[Hashable] = field(default_factory=set)
    again: set[Hashable] = field(default_factory=set)
    output: Object | None = None

    @classmethod
    def of(cls, request: AdmissionRequest, plugin: str) -> Rounds:
        """Return the memory of a plugin for a request."""
        rounds: Rounds = request.memory.setdefault(plugin, cls())
        if request.is_reinvocation and request.object is not None and request.object != rounds.output:
            rounds._repeat()
        return rounds

    def skips(self, request: AdmissionRequest, key: Hashable) -> bool:
        """Tell whether this one is left out of the second round."""
        return request.is_reinvocation and key not in self.again

    def changed(self, request: AdmissionRequest) -> None:
        """Note that a plugin changed the object."""
        self._repeat()
        request.wants_reinvocation = True

    def note(self, key: Hashable, *, if_needed: bool) -> None:
        """Note that this one was asked."""
        if if_needed:
            self.asked.add(key)

    def done(self, request: AdmissionRequest) -> None:
        """Keep what the plugin leaves behind, to see later whether others changed it."""
        self.output = copy_object(request.object) if request.object is not None else None

    def _repeat(self) -> None:
        self.again |= self.asked
        self.asked.clear()
