"""The result of one scheduling cycle with its diagnosis: the arrays as they were, put into words only on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hyperkube.machinery.objects import NodeName, Object

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hyperkube.hookspecs.scheduling import Filtered, IntScores

    ShortScores = NDArray[np.int16]
    Rejections = Mapping[tuple[str, str], NDArray[np.uint8]]


def packed(rejected: Mapping[str, Filtered]) -> Rejections:
    """Return who refused which nodes and why, a bit per node: a copy."""
    if not rejected:
        return {}
    import numpy as np

    return {
        (plugin, text): np.packbits(mask)
        for plugin, answer in rejected.items()
        for text, mask in answer.reasons.items()
    }


def shortened(scores: IntScores) -> ShortScores:
    """Return a copy of final scores in two bytes each."""
    return scores.astype("h")


class Diagnosis:
    """Every plugin's word on every node, packed: a bit per refusal, two bytes per score.

    Attributes:
        names: the nodes.
        weights: plugin → the weight of its scores.
        size: how many bytes it holds, about; what several traces share is counted in each.
    """

    __slots__ = ("_rejections", "_scores", "names", "size", "weights")

    def __init__(
        self,
        names: tuple[NodeName, ...],
        rejections: Rejections,
        scores: Mapping[str, ShortScores],
        weights: Mapping[str, int],
    ) -> None:
        """Take the refusals, as `packed` makes them, and the scores, as `shortened` does."""
        self.names = names
        self.weights = weights
        self._rejections = rejections
        self._scores = scores
        self.size = 500 + len(scores) * 2 * len(names) + len(rejections) * (len(names) // 8)

    def parts(self) -> tuple[Object, list[bytes]]:
        """Return what `of_parts` makes a trace of: plain data, and the arrays' bytes in its order."""
        head: Object = {
            "weights": dict(self.weights),
            "refusals": [[plugin, text] for plugin, text in self._rejections],
            "scores": list(self._scores),
        }
        rejections = [packed.tobytes() for packed in self._rejections.values()]
        return head, rejections + [array.tobytes() for array in self._scores.values()]

    @classmethod
    def of_parts(cls, names: tuple[NodeName, ...], head: Object, data: bytes) -> Diagnosis:
        """Make a trace of what `parts` returned, the arrays one after another."""
        import numpy as np

        rejections: dict[tuple[str, str], NDArray[np.uint8]] = {}
        position = 0
        for plugin, text in head["refusals"]:
            rejections[plugin, text] = np.frombuffer(data, np.uint8, (len(names) + 7) // 8, position)
            position += rejections[plugin, text].nbytes
        scores: dict[str, ShortScores] = {}
        for plugin in head["scores"]:
            scores[plugin] = np.frombuffer(data, np.int16, len(names), position)
            position += scores[plugin].nbytes
        return cls(names, rejections, scores, head["weights"])

    def rejected(self) -> dict[NodeName, list[tuple[str, str]]]:
        """Return for each refused node which plugin refused it and why."""
        import numpy as np

        found: dict[NodeName, list[tuple[str, str]]] = {}
        for (plugin, text), packed in self._rejections.items():
            for index in np.unpackbits(packed, count=len(self.names)).nonzero()[0]:
                found.setdefault(self.names[index], []).append((plugin, text))
        return found

    def scores(self) -> dict[NodeName, dict[str, int]]:
        """Return for each node that was scored each plugin's score, 0 to 100, before its weight."""
        rejected = self.rejected()
        return {
            name: {plugin: int(array[index]) for plugin, array in self._scores.items()}
            for index, name in enumerate(self.names)
            if name not in rejected
        }


class ScheduleResult:
    """The chosen node, or None if none fits.

    Attributes:
        node: the chosen node.
        trace: why.
        rejected: plugin → what it refused, for preemption.
        text: the message of a refusal, once `close` was called.
    """

    __slots__ = ("_reason", "node", "rejected", "text", "trace")

    def __init__(
        self, node: NodeName | None, trace: Diagnosis, rejected: Mapping[str, Filtered] | None = None, reason: str = ""
    ) -> None:
        """Take the parts; `reason` is why the pod can run nowhere, whatever the nodes are like."""
        self.node = node
        self.trace = trace
        self.rejected: Mapping[str, Filtered] = rejected or {}
        self.text = ""
        self._reason = reason

    def close(self, note: str) -> str:
        """Return the message with what came of an attempt to make room; drop what only that needed."""
        self.text = f"{self.message()} {note}".rstrip()
        self.rejected = {}
        return self.text

    def message(self) -> str:
        """Return upstream's text for the event, such as ``0/5 nodes are available: 5 Insufficient cpu.``."""
        count = len(self.trace.names)
        if not count:
            return "no nodes available to schedule pods"
        if self._reason:
            return f"0/{count} nodes are available: {self._reason}."
        counts: dict[str, int] = {}
        for answer in self.rejected.values():
            for text, mask in answer.reasons.items():
                counts[text] = counts.get(text, 0) + int(mask.sum())
        rows = sorted(f"{number} {text}" for text, number in counts.items())
        return f"0/{count} nodes are available: {', '.join(rows)}."

    def explain(self, key: str) -> Object:
        """Return the whole reasoning as plain data."""
        weights = self.trace.weights
        nodes: list[Object] = [
            {"node": name, "refused": [{"plugin": plugin, "reason": text} for plugin, text in rows]}
            for name, rows in self.trace.rejected().items()
        ]
        for name, scores in self.trace.scores().items():
            rows = [{"plugin": plugin, "score": score, "weight": weights[plugin]} for plugin, score in scores.items()]
            nodes.append(
                {"node": name, "scores": rows, "total": sum(row["score"] * row["weight"] for row in rows)}  # type: ignore[operator]  # numbers both
            )
        return {"pod": key, "node": self.node, "message": self.text, "nodes": nodes}
