"""Least and most of a size or of a cost, with sums and products that stay at the largest number instead of going over.

Source: cel-go ``checker/cost.go`` (SizeEstimate, CostEstimate).
"""

from __future__ import annotations

import math

from hyperkube.machinery.dataclass import dataclass

LIMIT = 2**64 - 1


def _bounded(value: int) -> int:
    return min(value, LIMIT)


def _scaled(value: int, factor: float) -> int:
    product = float(value) * factor
    return LIMIT if product >= LIMIT else math.ceil(product)


@dataclass(frozen=True, slots=True)
class Range:
    """From `least` to `most`, both included; `LIMIT` stands for everything larger."""

    least: int
    most: int

    def __add__(self, other: Range) -> Range:
        return Range(_bounded(self.least + other.least), _bounded(self.most + other.most))

    def __mul__(self, other: Range) -> Range:
        return Range(_bounded(self.least * other.least), _bounded(self.most * other.most))

    def __or__(self, other: Range) -> Range:
        return Range(min(self.least, other.least), max(self.most, other.most))

    def scaled(self, factor: float) -> Range:
        """Return the range times a factor, rounded up."""
        return Range(_scaled(self.least, factor), _scaled(self.most, factor))


def exactly(value: int) -> Range:
    """Return the range of one value."""
    return Range(value, value)


UNKNOWN = Range(0, LIMIT)
NOTHING, ONE = exactly(0), exactly(1)
