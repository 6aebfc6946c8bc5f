"""Quantities: exact numbers with a suffix, ``500m`` cpu or ``1.5Gi`` of memory.

A quantity is an integer times a power of ten, never a float. It remembers the kind of suffix it was written with and,
when that was already canonical, the text itself, so that what a user wrote comes back unchanged until it is
part of a sum. Source of the rules: kubernetes apimachinery ``pkg/api/resource/quantity.go``.
"""

from __future__ import annotations

import re
from functools import lru_cache, total_ordering
from typing import Literal

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

FORMAT_TEXT = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"  # Kubernetes' text
)
SUFFIX_TEXT = "unable to parse quantity's suffix"

NANO, MICRO, MILLI = -9, -6, -3

_SHAPE = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
_EXPONENT = re.compile(r"[eE][-+]?[0-9]+", re.ASCII)
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")

_MAX_INT64 = 2**63 - 1
_FAST_DIGITS = 18
_FAST_BINARY_DIGITS = 15
_MAX_EXPONENT = 10_000  # far past any real number, and small enough that aligning two scales stays cheap
_LONGEST = 250


class QuantityError(ValueError):
    """A text that is no quantity; the message is Kubernetes' own."""


@total_ordering
class Quantity:
    """An exact number, ``mantissa`` times ten to the ``scale``; immutable, comparable by value whatever the format."""

    __slots__ = ("_text", "format", "mantissa", "scale")

    def __init__(self, mantissa: int, scale: int = 0, form: Format = "DecimalSI", text: str | None = None) -> None:
        self.mantissa = mantissa
        self.scale = scale
        self.format: Format = form
        self._text = text

    @property
    def is_zero(self) -> bool:
        """Whether the number is zero."""
        return self.mantissa == 0

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.mantissa > 0) - (self.mantissa < 0)

    def value(self) -> int:
        """Return the number as an integer, rounded away from zero."""
        return self.scaled_value(0)

    def milli_value(self) -> int:
        """Return a thousand times the number as an integer, rounded away from zero."""
        return self.scaled_value(MILLI)

    def is_whole(self) -> bool:
        """Tell whether the thousandths end in three zeros, as Kubernetes asks it: of their lowest 64 bits only.

        What was read into 64 bits (up to 18 digits) is whole when the thousandths do not fit.
        """
        thousandths = abs(self.milli_value())
        if thousandths > _MAX_INT64 and abs(self.mantissa) < _ten(_FAST_DIGITS):
            return True
        low = thousandths & (2**64 - 1)
        return (low - 2**64 if low > _MAX_INT64 else low) % 1000 == 0

    def scaled_value(self, scale: int) -> int:
        """Return the number in units of ten to the `scale`, rounded away from zero."""
        shift = self.scale - scale
        if shift >= 0:
            return self.mantissa * _ten(shift)
        return _divide_away(self.mantissa, -shift)

    def as_float(self) -> float:
        """Return the nearest float; for metrics and ratios only."""
        if self.scale >= 0:
            return float(self.mantissa * _ten(self.scale))
        return self.mantissa / _ten(-self.scale)

    def rounded_up(self, scale: int = MILLI) -> Quantity:
        """Return the quantity with no digit below ten to the `scale`, rounded away from zero.

        Values of a ResourceList are rounded so to milli when they are read.
        """
        if self.scale >= scale:
            return self
        return Quantity(_divide_away(self.mantissa, scale - self.scale), scale, self.format)

    def is_integer(self) -> bool:
        """Tell whether the number has no fraction."""
        return self.scale >= 0 or self.mantissa % _ten(-self.scale) == 0

    def __add__(self, other: Quantity) -> Quantity:
        form = other.format if self.mantissa == 0 else self.format
        if self.scale == other.scale:
            return Quantity(self.mantissa + other.mantissa, self.scale, form)
        low = min(self.scale, other.scale)
        total = self.mantissa * _ten(self.scale - low) + other.mantissa * _ten(other.scale - low)
        return Quantity(total, low, form)

    def __sub__(self, other: Quantity) -> Quantity:
        return self + -other

    def __mul__(self, factor: int) -> Quantity:
        return Quantity(self.mantissa * factor, self.scale, self.format)

    def __neg__(self) -> Quantity:
        return Quantity(-self.mantissa, self.scale, self.format)

    def __bool__(self) -> bool:
        return self.mantissa != 0

    def _compare(self, other: Quantity) -> int:
        if self.scale == other.scale:
            left, right = self.mantissa, other.mantissa
        else:
            low = min(self.scale, other.scale)
            left = self.mantissa * _ten(self.scale - low)
            right = other.mantissa * _ten(other.scale - low)
        return (left > right) - (left < right)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self._compare(other) == 0

    def __lt__(self, other: Quantity) -> bool:
        return self._compare(other) < 0

    def __hash__(self) -> int:
        return hash(_without_tens(self.mantissa, self.scale))

    def __str__(self) -> str:
        if self._text is None:
            self._text = self._canonical()
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def _canonical(self) -> str:
        if self.mantissa == 0:
            return "0"
        if self.format == "BinarySI" and self.is_integer():
            number = self.value()
            if abs(number) >= 1024:
                return _binary_text(number)
        return _decimal_text(self.mantissa, self.scale, self.format)


def _ten(power: int) -> int:
    """Return ten to a power that is not negative."""
    number: int = 10**power
    return number


def _divide_away(mantissa: int, digits: int) -> int:
    """Drop `digits` decimal digits, rounding away from zero."""
    if mantissa == 0:
        return 0
    unit = _ten(digits)
    return -(-mantissa // unit) if mantissa > 0 else mantissa // unit


def _without_tens(mantissa: int, scale: int) -> tuple[int, int]:
    """Move all factors of ten from the mantissa into the scale."""
    if mantissa == 0:
        return 0, 0
    while mantissa % 10 == 0:
        mantissa //= 10
        scale += 1
    return mantissa, scale


def _binary_text(number: int) -> str:
    power = 0
    while number % 1024 == 0 and power < len(_BINARY_SUFFIX) - 1:
        number //= 1024
        power += 1
    return f"{number}{_BINARY_SUFFIX[power]}"


def _decimal_text(mantissa: int, scale: int, form: Format) -> str:
    mantissa, scale = _without_tens(mantissa, scale)
    surplus = scale % 3
    mantissa, scale = mantissa * _ten(surplus), scale - surplus
    if form == "DecimalExponent":
        return f"{_digits(mantissa)}e{scale}" if scale else _digits(mantissa)
    return f"{_digits(mantissa)}{_DECIMAL_SUFFIX.get(scale, '')}"  # past exa Kubernetes has no letter, and writes none


def _digits(number: int) -> str:
    """Write a number of any length, which Python's integers refuse from 4,300 digits on."""
    if number.bit_length() < 1 << 13:
        return str(number)
    from decimal import Decimal

    return format(Decimal(number), "f")


def _suffix(suffix: str) -> tuple[Format, int]:
    """Return the format and exponent that a suffix means.

    Raises:
        QuantityError: there is no such suffix.
    """
    if suffix in _DECIMAL:
        return "DecimalSI", _DECIMAL[suffix]
    if suffix in _BINARY:
        return "BinarySI", _BINARY[suffix]
    if _EXPONENT.fullmatch(suffix) and abs(exponent := int(suffix[1:])) <= _MAX_EXPONENT:
        return "DecimalExponent", exponent
    raise QuantityError(SUFFIX_TEXT)


def parse(value: str | float) -> Quantity:
    """Read a quantity from its JSON form, a string or a number; blanks around the text are dropped.

    Raises:
        QuantityError: the text is no quantity; the message is Kubernetes' own.
    """
    if isinstance(value, str):
        return _parse(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise QuantityError(FORMAT_TEXT)
    return _parse(str(value))


@lru_cache(maxsize=4096)
def _parse(raw: str) -> Quantity:
    if len(raw) > _LONGEST:
        raise QuantityError(FORMAT_TEXT)
    text = raw.strip()
    if text == "0":
        return Quantity(0, text=text)
    shape = _SHAPE.fullmatch(text) if text else None
    if shape is None:
        raise QuantityError(FORMAT_TEXT)
    sign, number, fraction, suffix = shape.groups("")
    form, exponent = _suffix(suffix)
    whole = number.lstrip("0") or "0"
    digits = whole + fraction
    negative = sign == "-"
    if form == "BinarySI":
        return _read_binary(text, digits, len(whole), len(fraction), exponent, negative)
    mantissa, scale = int(digits), exponent - len(fraction)
    fits = len(digits) <= _FAST_DIGITS and scale >= NANO
    if not fits and scale < NANO and mantissa:
        mantissa, scale = _divide_away(mantissa, NANO - scale), NANO
    kept = fits and scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    return Quantity(-mantissa if negative else mantissa, scale, form, text if kept else None)


def _read_binary(text: str, digits: str, whole: int, fraction: int, exponent: int, negative: bool) -> Quantity:
    """Finish `parse` for a text with a suffix like ``Gi``; such a number is capped at 2^63-1."""
    form: Format = "BinarySI"
    number, scale = int(digits) << exponent, -fraction
    fits = not fraction and _FAST_BINARY_DIGITS - whole - exponent * 3 // 10 - 1 >= 0 and number <= _MAX_INT64
    if fits:
        kept = int(digits) & 7 != 0
        return Quantity(-number if negative else number, 0, form, text if kept else None)
    if scale < NANO and number:
        number, scale = _divide_away(number, NANO - scale), NANO
    unit = _ten(-scale)
    if number > _MAX_INT64 * unit:
        number, scale = _MAX_INT64, 0
    elif 0 < number < unit:
        form = "DecimalSI"
    return Quantity(-number if negative else number, scale, form)


def from_milli(value: int, form: Format = "DecimalSI") -> Quantity:
    """Return the quantity of `value` thousandths."""
    return Quantity(value, MILLI, form)


@lru_cache(maxsize=4096)
def canonical(text: str | float) -> str:
    """Return the text Kubernetes writes for a plain quantity field.

    Raises:
        QuantityError: the text is no quantity.
    """
    return _written(parse(text), text)


@lru_cache(maxsize=4096)
def canonical_resource(text: str | float) -> str:
    """Return the text Kubernetes writes for a value of a ResourceList: rounded up to milli.

    Raises:
        QuantityError: the text is no quantity.
    """
    return _written(parse(text).rounded_up(), text)


def _written(quantity: Quantity, text: str | float) -> str:
    """Return the text of a quantity; one past exa stays as it came, for Kubernetes' text of it is another number."""
    written = str(quantity)
    return written if parse(written) == quantity else str(text).strip()
