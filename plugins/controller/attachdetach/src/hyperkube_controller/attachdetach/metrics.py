"""What the controller tells at ``/metrics``: volumes wanted and attached, and what was detached by force.

Source of names and labels: kubernetes ``pkg/controller/volume/attachdetach/metrics/metrics.go``.
"""

from __future__ import annotations

from collections import Counter as Count
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.machinery.metric_families import Counter, Gauge

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

_CSI = "kubernetes.io/csi"


def kind_of(unique_name: str, storage_name: str) -> str:
    """Return the kind that a volume is counted under, with the driver where it has one."""
    kind = unique_name.removesuffix(f"/{storage_name}")
    return f"{kind}:{storage_name.partition('^')[0]}" if kind == _CSI else kind


class AttachDetachMetrics(ControllerMetrics):
    """Detaches by force are counted as they come, volumes when they are asked for; thread-safe."""

    def __init__(
        self,
        desired: Callable[[], Iterable[str]],
        actual: Callable[[], Iterable[str]],
        in_use: Callable[[], Count[tuple[str, str]]],
    ) -> None:
        """Count what these return.

        Args:
            desired: the kind of each volume that is to be attached.
            actual: the kind of each volume that is.
            in_use: how many volumes pods have, by node and kind.
        """
        self._states = {"desired_state_of_world": desired, "actual_state_of_world": actual}
        self._in_use = in_use
        self._forced = Counter(
            "attach_detach_controller_attachdetach_controller_forced_detaches",
            "Number of times the A/D Controller performed a forced detach",
            ("reason",),
        )
        super().__init__(self._forced)

    def forced(self, reason: str) -> None:
        """Count a volume that was detached whether or not it was safe."""
        self.add(self._forced, (reason,))

    def collect(self) -> Iterator[Metric]:
        """Return the families as of now."""
        yield from super().collect()
        labels = ("plugin_name", "state")
        total = Gauge("attachdetach_controller_total_volumes", "Number of volumes in A/D Controller", labels)
        yield total.family(
            {
                (kind, state): float(number)
                for state, kinds in self._states.items()
                for kind, number in Count(kinds()).items()
            }
        )
        text = "Measure number of volumes in use"
        in_use = Gauge("storage_count_attachable_volumes_in_use", text, ("node", "volume_plugin"))
        yield in_use.family({labels: float(number) for labels, number in self._in_use().items()})
