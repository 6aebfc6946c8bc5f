"""How a flag's value is read: Go's booleans and durations, lists, maps, addresses, ranges of ports.

A kind reads what was typed, and leaves a value alone that already is what it reads.
"""

from __future__ import annotations

import ipaddress
import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from hyperkube.machinery.booleans import parse_bool

Value = TypeVar("Value")


class Kind(Generic[Value]):
    """One way of reading values.

    Attributes:
        name: what ``--help`` shows behind the flag's name.
        zero: the default of a flag that declares none, as it would be typed.
    """

    name: ClassVar[str]
    zero: ClassVar[object] = ""

    @abstractmethod
    def convert(self, value: Any) -> Value:
        """Return the value.

        Raises:
            ValueError: it cannot be read; the message says why and what would be valid.
        """


class _String(Kind[str]):
    """Any text."""

    name = "string"

    def convert(self, value: Any) -> str:
        return str(value)


class _Int(Kind[int]):
    """A whole number."""

    name = "int"
    zero = 0

    def convert(self, value: Any) -> int:
        try:
            return int(value)
        except (TypeError, ValueError):
            raise ValueError(f"{value!r} is not an integer") from None


class _Float(Kind[float]):
    """A number."""

    name = "float"
    zero = 0.0

    def convert(self, value: Any) -> float:
        try:
            return float(value)
        except (TypeError, ValueError):
            raise ValueError(f"{value!r} is not a number") from None


class _Bool(Kind[bool]):
    """A boolean as Go's strconv reads it; the command line makes a valueless flag ``=true``."""

    name = ""
    zero = False

    def convert(self, value: Any) -> bool:
        if isinstance(value, bool):
            return value
        read = parse_bool(value)
        if read is None:
            raise ValueError(f"{value!r} is not a boolean (true or false)")
        return read


class _Duration(Kind[float]):
    """A Go duration such as ``1m30s``; becomes seconds. A bare number means seconds."""

    name = "duration"
    zero = "0s"

    def convert(self, value: Any) -> float:
        from hyperkube.machinery.durations import parse_duration

        if isinstance(value, int | float):
            return float(value)
        if re.fullmatch(r"\d+(\.\d+)?", value):
            return float(value)
        return parse_duration(value)


class _List(Kind[tuple[str, ...]]):
    """Comma-separated strings in order; a repeated flag adds to the list."""

    name = "strings"

    def convert(self, value: Any) -> tuple[str, ...]:
        if isinstance(value, str):
            return tuple(item.strip() for item in value.split(",") if item.strip())
        return tuple(value)


class _Repeated(_List):
    """A string that has commas of its own; a repeated flag adds to the list."""

    name = "string"

    def convert(self, value: Any) -> tuple[str, ...]:
        if isinstance(value, str):
            return (value,) if value else ()
        return tuple(value)


class _Map(Kind[dict[str, str]]):
    """Comma-separated ``key=value`` pairs; a bare key means an empty value."""

    name = "mapStringString"

    def convert(self, value: Any) -> dict[str, str]:
        if not isinstance(value, str):
            return dict(value)
        pairs = (item.strip().partition("=") for item in value.split(",") if item.strip())
        return {key: text for key, _, text in pairs}


class Gates(Kind[dict[str, bool]]):
    """Comma-separated ``Gate=true|false`` pairs."""

    name = "mapStringBool"

    def convert(self, value: Any) -> dict[str, bool]:
        """Read the pairs."""
        if isinstance(value, Mapping):
            return dict(value)
        return {gate: BOOL.convert(state or "true") for gate, state in MAP.convert(value).items()}


class _Address(Kind[str]):
    """An IP address."""

    name = "ip"

    def convert(self, value: Any) -> str:
        if value:
            try:
                ipaddress.ip_address(value)
            except ValueError:
                raise ValueError(f"{value!r} is not an IP address") from None
        return str(value)


class _Cidrs(Kind[str]):
    """One IP range, or two of different families, comma-separated; host bits are allowed (``10.0.0.1/24``)."""

    name = "cidr"

    def convert(self, value: Any) -> str:
        try:
            networks = [ipaddress.ip_network(part.strip(), strict=False) for part in value.split(",") if part.strip()]
        except ValueError:
            raise ValueError(f"{value!r} is not a range of IP addresses (like 10.0.0.0/24)") from None
        return ",".join(str(network) for network in networks)


class _PortRange(Kind[str]):
    """``low-high``, both inclusive, or ``low+count``."""

    name = "portRange"
    zero = "0-0"

    def convert(self, value: Any) -> str:
        match = re.fullmatch(r"(\d+)(?:([-+])(\d+))?", value)
        if match is None:
            raise ValueError(f"{value!r} is not a port range (like 30000-32767)")
        low, sign, second = int(match[1]), match[2], int(match[3] or match[1])
        high = low + second if sign == "+" else second
        if not low <= high <= 65535:
            raise ValueError(f"{value!r} is not a port range within 0-65535")
        return f"{low}-{high}"


STRING, BOOL, INT, FLOAT, DURATION = _String(), _Bool(), _Int(), _Float(), _Duration()
LIST, REPEATED, MAP, GATES = _List(), _Repeated(), _Map(), Gates()
ADDRESS, CIDRS, PORT_RANGE = _Address(), _Cidrs(), _PortRange()

KINDS: Mapping[str, Kind[Any]] = {
    "string": STRING,
    "bool": BOOL,
    "int": INT,
    "float": FLOAT,
    "duration": DURATION,
    "list": LIST,
    "repeated": REPEATED,
    "map": MAP,
    "gates": GATES,
    "ip": ADDRESS,
    "cidrs": CIDRS,
    "port-range": PORT_RANGE,
}
"""What ``type`` may be in a ``flags.toml``."""

ADDS_UP = (LIST, REPEATED)
"""The kinds of which a repeated flag adds to the value."""
