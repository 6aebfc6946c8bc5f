"""Numbers as JSON's writer takes them."""

from __future__ import annotations


def without_fraction(number: float) -> float:
    """Return a whole number as Go writes it back, without a fraction; one beyond 64 bits stays what it is."""
    return int(number) if -(2**63) <= number < 2**64 and number.is_integer() else number
