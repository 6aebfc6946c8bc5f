"""The estimated cost of the rules of a definition, by the bounds that its schema gives.

Source: kubernetes apiextensions-apiserver ``pkg/apis/apiextensions/validation/{validation,cel_validation}.go``.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.field import FieldError, Path, forbidden
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube_lib.cel import Program
    from hyperkube_lib.cel.sizes import Size

RULE_LIMIT = 10_000_000
SCHEMA_LIMIT = 100_000_000
_MAX_UINT64 = 2**64 - 1
_MAX_NAMED = 4
_MAX_FACTOR, _PRECISE_FACTOR = 100.0, 1.5


def over_budget(name: str, cost: int, limit: int) -> str:
    """Return the text for a cost above its limit."""
    factor = cost / limit
    if factor > _MAX_FACTOR:
        shown = "more than 100x"
    else:
        shown = f"{factor:f}x" if factor < _PRECISE_FACTOR else f"{factor:.1f}x"
    return (
        f"{name} exceeds budget by factor of {shown} (try simplifying the rule, or adding maxItems, maxProperties, "
        "and maxLength where arrays, maps, and strings are declared)"
    )


def cardinality_below(max_cardinality: int | None, schema: Object) -> int | None:
    """Return how often a value right below a schema can occur when the schema's own can `max_cardinality` times.

    None stands for no bound.
    """
    kind = schema.get("type")
    if kind == "array":
        most = schema.get("maxItems")
    elif kind == "object" and schema.get("additionalProperties") is not None:
        most = schema.get("maxProperties")
    else:
        return max_cardinality
    if max_cardinality is None or most is None:
        return None
    return min(max_cardinality * max(int(most), 0), _MAX_UINT64)


@dataclass(slots=True)
class TotalCost:
    """The estimated cost of all rules of a schema.

    Attributes:
        limit_each: whether each rule has a limit of its own.
        total: of all rules and message expressions, `_MAX_UINT64` for everything above.
        items: those that count for at least a hundredth of what is allowed.
    """

    limit_each: bool = True
    total: int = 0
    items: list[tuple[int, Path]] = field(default_factory=list)

    def add(self, path: Path, cost: int) -> None:
        """Count one expression."""
        self.total = min(self.total + cost, _MAX_UINT64)
        if cost >= SCHEMA_LIMIT // 100:
            self.items.append((cost, path))

    def errors(self, path: Path) -> list[FieldError]:
        """Return what is wrong when all rules of the schema at `path` cost too much together."""
        if self.total <= SCHEMA_LIMIT:
            return []
        text = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        worst = sorted(self.items, key=lambda item: item[0], reverse=True)[:_MAX_NAMED]
        name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        whole = forbidden(path, over_budget(name, self.total, SCHEMA_LIMIT))
        return [*(forbidden(at, text) for _, at in worst), whole]


@dataclass(frozen=True, slots=True)
class CostEstimator:
    """Estimates the cost of the rules at one place of a schema: by the size of its values, and how many there can be.

    Attributes:
        total_cost: where the costs are added up.
        size: the size of a value.
        max_cardinality: how many values there can be, None without bound.
    """

    total_cost: TotalCost
    size: Size
    max_cardinality: int | None

    def rule(self, path: Path, program: Program) -> list[FieldError]:
        """Count a rule; return what is wrong when it costs too much."""
        times = self.max_cardinality if self.max_cardinality is not None else self.size.cardinality
        return self._count(path, "estimated rule cost", min(program.most(self.size) * times, _MAX_UINT64))

    def message(self, path: Path, program: Program) -> list[FieldError]:
        """Count a message expression, once; return what is wrong when it costs too much."""
        return self._count(path, "estimated messageExpression cost", program.most(self.size))

    def _count(self, path: Path, name: str, cost: int) -> list[FieldError]:
        self.total_cost.add(path, cost)
        if not self.total_cost.limit_each or cost <= RULE_LIMIT:
            return []
        return [forbidden(path, over_budget(name, cost, RULE_LIMIT))]
