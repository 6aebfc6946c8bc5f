"""PrioritySort: pods of higher priority first, among equals the one that has waited longest."""

from __future__ import annotations

from hyperkube.hookspecs.scheduling import QueueSortPlugin
from hyperkube.kinds.pods import priority_of
from hyperkube.machinery.objects import Object


class PrioritySort(QueueSortPlugin):
    """The queue's usual order. Source: kubernetes ``plugins/queuesort/priority_sort.go``."""

    def sort_key(self, pod: Object, queued_at: float) -> tuple[int, float]:
        """Return a key that is smaller for higher priority, then for earlier arrival."""
        return -priority_of(pod), queued_at
