"""What the rules of a definition may cost together, by the bounds its schema gives.

Source: kubernetes apiextensions-apiserver ``pkg/apis/apiextensions/validation/{validation,cel_validation}.go``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hyperkube.machinery.field import FieldError, Path, forbidden
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube_lib.cel import Program
    from hyperkube_lib.cel.sizes import Size

RULE_LIMIT = 10_000_000
SCHEMA_LIMIT = 100_000_000
_LARGEST = 2**64 - 1
_NAMED = 4
_HOPELESS, _CLOSE = 100.0, 1.5


def over(name: str, cost: int, limit: int) -> str:
    """Return the text for a cost above its limit."""
    factor = cost / limit
    shown = f"{factor:f}x" if factor < _CLOSE else f"{factor:.1f}x" if factor <= _HOPELESS else "more than 100x"
    return (
        f"{name} exceeds budget by factor of {shown} (try simplifying the rule, or adding maxItems, maxProperties, "
        "and maxLength where arrays, maps, and strings are declared)"
    )


def times_below(times: int | None, schema: Object) -> int | None:
    """Return how often a value right below a schema can occur, None without bound, when the schema's can `times`."""
    kind = schema.get("type")
    if kind == "array":
        most = schema.get("maxItems")
    elif kind == "object" and schema.get("additionalProperties") is not None:
        most = schema.get("maxProperties")
    else:
        return times
    return min(times * max(most, 0), _LARGEST) if times is not None and most is not None else None


@dataclass(slots=True)
class Bill:
    """What all rules of a schema cost.

    Attributes:
        limit_each: whether each rule has a limit of its own.
        total: of all rules and message expressions, `_LARGEST` for everything above.
        items: those that count for at least a hundredth of what is allowed.
    """

    limit_each: bool = True
    total: int = 0
    items: list[tuple[int, Path]] = field(default_factory=list)

    def add(self, path: Path, cost: int) -> None:
        """Count one expression."""
        self.total = min(self.total + cost, _LARGEST)
        if cost >= SCHEMA_LIMIT // 100:
            self.items.append((cost, path))

    def errors(self, path: Path) -> list[FieldError]:
        """Return what is wrong when all rules of the schema at `path` cost too much together."""
        if self.total <= SCHEMA_LIMIT:
            return []
        text = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        worst = sorted(self.items, key=lambda item: item[0], reverse=True)[:_NAMED]
        name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        whole = forbidden(path, over(name, self.total, SCHEMA_LIMIT))
        return [*(forbidden(at, text) for _, at in worst), whole]


@dataclass(frozen=True, slots=True)
class Tariff:
    """What makes the cost of the rules at one place of a schema: the size of its values, and how many there can be."""

    bill: Bill
    size: Size
    times: int | None

    def rule(self, path: Path, program: Program) -> list[FieldError]:
        """Count a rule; return what is wrong when it costs too much."""
        times = self.times if self.times is not None else self.size.cardinality
        return self._count(path, "estimated rule cost", min(program.most(self.size) * times, _LARGEST))

    def message(self, path: Path, program: Program) -> list[FieldError]:
        """Count a message expression, once; return what is wrong when it costs too much."""
        return self._count(path, "estimated messageExpression cost", program.most(self.size))

    def _count(self, path: Path, name: str, cost: int) -> list[FieldError]:
        self.bill.add(path, cost)
        return [forbidden(path, over(name, cost, RULE_LIMIT))] if self.bill.limit_each and cost > RULE_LIMIT else []
