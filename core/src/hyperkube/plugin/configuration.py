"""Configuration files that carry ``apiVersion`` and ``kind``: read once at start, and nothing in them is guessed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperkube.machinery import field
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.errors import UsageError


class WrongFields(UsageError):
    """Fields of a configuration are wrong; the message lists them all, as Kubernetes does.

    Attributes:
        errors: what is wrong, by paths from the table that was looked at.
    """

    def __init__(self, errors: Sequence[field.FieldError]) -> None:
        super().__init__(aggregate(errors))
        self.errors = tuple(errors)

    def below(self, path: field.Path) -> WrongFields:
        """Return the same with the place where the table stands in front of all paths."""
        return WrongFields([replace(error, path=path.child(str(error.path))) for error in self.errors])


def read_configuration(path: str | Path, kind: str, versions: Collection[str]) -> dict[str, Any]:
    """Return the YAML or JSON object of a file.

    Args:
        path: the file.
        kind: what it must be.
        versions: the ``apiVersion`` values that are understood, the best first.

    Raises:
        UsageError: the file cannot be read, or is something else.
    """
    import yaml

    try:
        text = Path(path).read_bytes()
        found = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  both are safe
    except (OSError, yaml.YAMLError) as error:
        raise UsageError(f"cannot read {kind} file {str(path)!r}: {error}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{str(path)!r} holds no {kind}")
    if found.get("kind") != kind or found.get("apiVersion") not in versions:
        raise UsageError(
            f"{str(path)!r} holds kind {found.get('kind')!r} of {found.get('apiVersion')!r},"
            f" expected {kind!r} of {' or '.join(versions)}"
        )
    return found


def check_keys(table: object, known: Iterable[str], where: str) -> Mapping[str, Any]:
    """Return `table` as a mapping that has no keys but the known ones; nothing at all counts as empty.

    Raises:
        UsageError: it is something else, or holds another key.
    """
    if table is None:
        return {}
    if not isinstance(table, Mapping):
        raise UsageError(f"{where} must be an object, not {table!r}")
    unknown = sorted(set(table) - set(known), key=str)
    if unknown:
        raise UsageError(f"{where} has an unknown field {unknown[0]!r} (known: {', '.join(sorted(known))})")
    return table
