"""What a post-filter plugin has to write before a node has room, with what will have come of it.

The scheduler nominates the node at once, and has the rest done beside the scheduling of other pods: to delete victims
takes calls of the API for each of them.

Source: kubernetes ``pkg/scheduler/framework/preemption/executor.go`` (prepareCandidateAsync).
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube.hookspecs.scheduling import PostFilterResult
from hyperkube.machinery.record import Record


class Preparation(Record):
    """An answer of `PostFilterPlugin.post_filter`; to call it is to carry it out here and now.

    Attributes:
        expected: what comes of it if all goes well; its node is set.
        carry_out: does it, on any thread, without the table's lock, and returns what has come of it.
    """

    expected: PostFilterResult
    carry_out: Callable[[], PostFilterResult]

    def __call__(self) -> PostFilterResult:
        """Carry it out."""
        return self.carry_out()
