"""The pods of a target: which an autoscaler's selector means, and whether another autoscaler means them, too.

Source: kubernetes ``pkg/controller/podautoscaler/horizontal.go`` (validateAndParseSelector).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hyperkube.machinery.labels import Selector, SelectorError, parse_selector
from hyperkube.machinery.objects import Object, labels_of, split_key

if TYPE_CHECKING:
    from hyperkube_controller.horizontalpodautoscaling.metric_sources import BadSelector


class Selectors:
    """The selectors of the targets of all autoscalers, as they were last seen; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Selector] = {}

    def forget(self, key: str) -> None:
        """Drop what is known of an autoscaler that is gone."""
        with self._lock:
            self._known.pop(key, None)

    def parsed(self, key: str, text: str) -> Selector | BadSelector:
        """Return the selector of the target of the autoscaler `key`, and remember it."""
        from hyperkube_controller.horizontalpodautoscaling.metric_sources import BadSelector

        if not text:
            missing = "the HPA target's scale is missing a selector"
            return BadSelector("SelectorRequired", "selector is required", "InvalidSelector", missing)
        try:
            selector = parse_selector(text)
        except SelectorError as error:
            message = f"couldn't convert selector into a corresponding internal selector object: {error}"
            return BadSelector("InvalidSelector", message, "InvalidSelector", message)
        with self._lock:
            self._known[key] = selector
        return selector

    def ambiguity(self, key: str, text: str, pods: Iterable[Object]) -> BadSelector | None:
        """Return what is wrong when another autoscaler of the namespace scales one of the pods, too."""
        from hyperkube_controller.horizontalpodautoscaling.metric_sources import BadSelector

        namespace = split_key(key)[0]
        with self._lock:
            near = {other: one for other, one in self._known.items() if split_key(other)[0] == namespace}
        if len(near) < 2:
            return None
        labels = [labels_of(pod) for pod in pods]
        selecting = sorted(other for other, one in near.items() if any(one.matches(each) for each in labels))
        if len(selecting) < 2:
            return None
        message = f"pods by selector {text} are controlled by multiple HPAs: [{' '.join(selecting)}]"
        return BadSelector("AmbiguousSelector", message, "AmbiguousSelector", message)
