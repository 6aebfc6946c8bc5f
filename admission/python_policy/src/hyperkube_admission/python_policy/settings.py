"""The settings of PythonPolicy: which policies run, for how long, and what happens when one gives no verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal, cast

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record
from hyperkube.machinery.suggestions import known_names
from hyperkube.plugin.configuration import check_keys
from hyperkube.plugin.loader import installed

FAMILY = "policy"
"""Policies of installed distributions are entry points of the group ``hyperkube.policy``."""

BUDGET = 200
WORKERS = 2
MEMORY = 512
_KEYS = ("policies", "budget", "failurePolicy", "workers", "memory")
_ENTRY_KEYS = ("policy", "name", "params", "budget", "failurePolicy")

FailurePolicy = Literal["Fail", "Ignore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of ``policies``.

    Attributes:
        source: what `hyperkube_admission.python_policy.loading` finds: a file, a module, or a function of one.
        budget: seconds that a policy may take.
        failure_policy: whether a write is refused when the policy gives no verdict.
    """

    source: str
    name: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    budget: float = BUDGET / 1000
    failure_policy: FailurePolicy = "Fail"


class Settings(Record):
    """The whole table.

    Attributes:
        workers: how many processes run policies; one more is kept warm.
        memory: bytes of address space that each may have, 0 for no limit.
    """

    entries: tuple[Entry, ...]
    workers: int = WORKERS
    memory: int = MEMORY << 20


def read(table: Mapping[str, Any], folder: Path) -> Settings:
    """Read the plugin's table; without ``policies``, those of all installed distributions run.

    Args:
        table: as in the configuration file.
        folder: what relative paths in it start from.

    Raises:
        UsageError: a key or a value is wrong, or a file or distribution is not there.
    """
    check_keys(table, _KEYS, "PythonPolicy")
    budget = _number(table, "budget", BUDGET, least=1)
    failure_policy = _failure_policy(table, "Fail")
    rows = table.get("policies")
    if rows is None:
        rows = sorted(installed(FAMILY))
    if not isinstance(rows, list):
        raise UsageError(f"PythonPolicy: policies must be a list, not {rows!r}")
    entries = []
    for index, row in enumerate(rows):
        where = f"PythonPolicy: policies[{index}]"
        entry = {"policy": row} if isinstance(row, str) else check_keys(row, _ENTRY_KEYS, where)
        if not isinstance(entry.get("policy"), str) or not entry["policy"]:
            raise UsageError(f"{where}: policy is missing: a module:function, a file, or an installed policy's name")
        params = entry.get("params") or {}
        if not isinstance(params, Mapping):
            raise UsageError(f"{where}: params must be an object, not {params!r}")
        entries.append(
            Entry(
                source=_source(entry["policy"], folder, where),
                name=str(entry.get("name") or ""),
                params=params,
                budget=_number(entry, "budget", budget, least=1) / 1000,
                failure_policy=_failure_policy(entry, failure_policy),
            )
        )
    return Settings(
        entries=tuple(entries),
        workers=_number(table, "workers", WORKERS, least=1),
        memory=_number(table, "memory", MEMORY, least=0) << 20,
    )


def _number(table: Mapping[str, Any], key: str, default: int, *, least: int) -> int:
    value = table.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UsageError(f"PythonPolicy: {key} must be a whole number of at least {least}, not {value!r}")
    return value


def _failure_policy(table: Mapping[str, Any], default: FailurePolicy) -> FailurePolicy:
    value = table.get("failurePolicy", default)
    if value not in {"Fail", "Ignore"}:
        raise UsageError(f"PythonPolicy: failurePolicy must be 'Fail' or 'Ignore', not {value!r}")
    return cast("FailurePolicy", value)


def _source(text: str, folder: Path, where: str) -> str:
    """Return a policy's source with the file's full path, or the module that an installed policy's name stands for."""
    place, colon, function = text.partition(":")
    if place.endswith(".py"):
        path = folder / place
        if not path.is_file():
            raise UsageError(f"{where}: there is no file {str(path)!r}")
        return f"{path.resolve()}{colon}{function}"
    known = installed(FAMILY)
    if text in known:
        return known[text].value
    if not colon and "." not in place:
        names = known_names(text, known)
        raise UsageError(f"{where}: policy {text!r} is no module:function, no file, and not installed ({names})")
    return text
