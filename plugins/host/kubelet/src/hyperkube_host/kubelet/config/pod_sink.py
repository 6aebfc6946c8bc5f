"""What pod sources report to."""

from __future__ import annotations

from typing import Protocol

from hyperkube.machinery.objects import Object


class PodSink(Protocol):
    """Receives the pods of a source; called from the source's thread."""

    def put(self, pod: Object) -> None:
        """Add a new pod, or update it."""

    def remove(self, pod: Object) -> None:
        """Note that its source does not have a pod any more."""


class PodSource(Protocol):
    """A source of pods."""

    def start(self) -> None:
        """Begin to report pods."""

    def ready(self) -> bool:
        """Tell whether all pods were reported once."""

    def close(self) -> None:
        """Stop reporting."""
