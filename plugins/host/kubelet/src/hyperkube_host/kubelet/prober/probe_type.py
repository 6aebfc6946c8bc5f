"""The three kinds of probes."""

from __future__ import annotations

from enum import Enum


class ProbeType(Enum):
    """A kind of probe; the value is its name in messages and, with ``Probe`` appended, its field of the container."""

    STARTUP = "startup"
    LIVENESS = "liveness"
    READINESS = "readiness"

    @property
    def field(self) -> str:
        """The field of a container that holds the probe."""
        return f"{self.value}Probe"
