"""What a namespace asks for: a level and a version to enforce, to audit and to warn about.

Source: kubernetes ``staging/src/k8s.io/pod-security-admission/api/helpers.go``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.field import FieldError, Path, invalid

PREFIX = "pod-security.kubernetes.io/"
LEVELS = ("privileged", "baseline", "restricted")
"""From the loosest to the strictest."""
Mode = Literal["enforce", "audit", "warn"]
MODES = ("enforce", "audit", "warn")
_VERSION = re.compile(r"v1\.(0|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the standards; `minor` of the latest is more than any."""

    minor: int = sys.maxsize

    def __str__(self) -> str:
        return "latest" if self == LATEST else f"v1.{self.minor}"


LATEST = Version()


@dataclass(frozen=True, slots=True)
class LevelVersion:
    """One of the standards, as of one version."""

    level: str = "privileged"
    version: Version = LATEST

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"

    def is_stricter_than(self, other: LevelVersion) -> bool:
        """Tell whether the level, not the version, is stricter."""
        return LEVELS.index(self.level) > LEVELS.index(other.level)


@dataclass(frozen=True, slots=True)
class Policy:
    """What holds in a namespace."""

    enforce: LevelVersion = LevelVersion()
    audit: LevelVersion = LevelVersion()
    warn: LevelVersion = LevelVersion()

    def asks_for_nothing(self, *modes: Mode) -> bool:
        """Tell whether everything is allowed in those modes."""
        return all(getattr(self, mode).level == "privileged" for mode in modes)


def _parse_version(text: str) -> Version | None:
    if text == "latest":
        return LATEST
    match = _VERSION.fullmatch(text)
    return Version(int(match[1])) if match else None


def policy_of(labels: Mapping[str, str], defaults: Policy, *, prefix: str = PREFIX) -> tuple[Policy, list[FieldError]]:
    """Read the labels of a namespace.

    Args:
        labels: the labels.
        defaults: what holds where no label says otherwise.
        prefix: what comes before ``enforce``, ``enforce-version``, ….

    Returns:
        the policy, and what is wrong with the labels. A wrong level enforces the strictest and audits and warns about
        nothing; a wrong version is the latest.
    """
    policy, errors = defaults, list[FieldError]()
    if not any(key.startswith(prefix) for key in labels):
        return policy, errors
    for mode in MODES:
        wanted: LevelVersion = getattr(policy, mode)
        key = f"{prefix}{mode}"
        level = labels.get(key)
        if level is not None and level not in LEVELS:
            errors.append(_wrong(key, level, f"must be one of {', '.join(LEVELS)}"))
            level = "restricted" if mode == "enforce" else "privileged"
        if level is not None:
            wanted = replace(wanted, level=level)
        text = labels.get(f"{key}-version")
        if text is not None:
            version = _parse_version(text)
            if version is None:
                errors.append(_wrong(f"{key}-version", text, 'must be "latest" or "v1.x"'))
            wanted = replace(wanted, version=version or LATEST)
        policy = replace(policy, **{mode: wanted})
    return policy, errors


def _wrong(label: str, value: str, detail: str) -> FieldError:
    return invalid(Path("metadata.labels").key(label), value, detail)
