"""The values of a server's flags: what was given, and the defaults of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.suggestions import closest
from hyperkube.plugin.flags.flag import Flag, by_name


class FlagValues(Mapping[str, Any]):
    """Flag name → value, read-only.

    Attributes:
        given: the names that were given; all others have their default or what follows from the given ones.
    """

    __slots__ = ("_values", "given")

    def __init__(self, values: Mapping[str, Any], given: Iterable[str] = ()) -> None:
        self._values = dict(values)
        self.given = frozenset(given)

    @classmethod
    def of(cls, flags: Iterable[Flag], given: Mapping[str, Any]) -> FlagValues:
        """Return the values of `flags`, of which those in `given` are given, by name or alias, as text or already read.

        Raises:
            UsageError: no such flag, or a value that cannot be read.
        """
        rows = tuple(flags)
        known = by_name(rows)
        found: dict[str, Any] = {}
        for name, value in given.items():
            flag = known.get(name)
            if flag is None:
                raise unknown_flag(name, known)
            found[flag.name] = read_value(flag, name, value)
        return cls({flag.name: flag.default_value for flag in rows} | found, found)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def with_defaults(self, defaults: Mapping[str, Any]) -> FlagValues:
        """Return the same with other values where none was given: the defaults of another release."""
        return self.with_values({name: value for name, value in defaults.items() if name not in self.given})

    def with_values(self, values: Mapping[str, Any]) -> FlagValues:
        """Return the same with these values, which follow from others: they do not count as given."""
        return FlagValues({**self._values, **values}, self.given)


def given_names(values: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the flags that were given: without a command line, all that have a value."""
    return values.given if isinstance(values, FlagValues) else frozenset(values)


def unknown_flag(name: str, known: Iterable[str], where: str = "") -> UsageError:
    """Return the error for a flag that is not among the `known` ones; it says which one may have been meant."""
    near = closest(name, known)
    hint = f"did you mean --{near}?" if near else ""
    notes = "; ".join(note for note in (hint, where) if note)
    return UsageError(f"unknown flag: --{name}{f' ({notes})' if notes else ''}")


def read_value(flag: Flag, name: str, value: Any) -> Any:
    """Return the value of a flag that was given under `name`.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return flag.kind.convert(value)
    except (ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"invalid argument {value!r} for --{name}: {error}") from error
