"""What a probe came to."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class ProbeResult(Enum):
    """The result of one check. Source: kubernetes ``pkg/probe/probe.go``."""

    SUCCESS = "success"
    WARNING = "warning"
    """A success that an event of the container tells of."""
    FAILURE = "failure"
    """The container answered, or failed to answer in time: the check counts as failed."""
    ERROR = "error"
    """The check itself could not be made; it counts neither as success nor as failure."""


class ProbeOutcome(NamedTuple):
    """A result and the text that belongs to it: output, response body or error."""

    result: ProbeResult
    text: str
