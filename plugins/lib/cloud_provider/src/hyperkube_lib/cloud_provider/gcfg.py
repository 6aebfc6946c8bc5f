"""The configuration files of Kubernetes' providers: gcfg, the dialect of ini that git reads.

Sections and keys know no case, a key may stand several times, a key alone is true, ``;`` and ``#`` begin a comment, and
a section may have a name: ``[LoadBalancerClass "dmz"]``.
Source: gopkg.in/gcfg.v1 (``doc.go``), which the providers of gce, openstack and vsphere read their files with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

Section = tuple[str, str]
"""A section's kind in lower case, and its name or nothing."""
Values = dict[str, list[str]]
Options = TypeVar("Options", bound=Record)

_SECTION: Final = re.compile(r'\[\s*([A-Za-z][\w-]*)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\]\s*(?:[;#].*)?')
_KEY: Final = re.compile(r"([A-Za-z][\w-]*)\s*(=.*)?")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')


def read_gcfg(path: str, known: Sequence[str]) -> dict[Section, Values]:
    """Return a file's sections, whose kinds are among those that are known; no path, none.

    Raises:
        UsageError: it cannot be read, or has another section: one line that names the file.
    """
    if not path:
        return {}
    try:
        sections = parse_gcfg(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"--cloud-config={path!r}: {error}") from error
    if unknown := {kind for kind, _ in sections} - set(known):
        words = ", ".join(f"[{kind}]" for kind in known)
        raise UsageError(f"--cloud-config={path!r}: unknown section [{min(unknown)}] (known: {words})")
    return sections


def parse_gcfg(text: str) -> dict[Section, Values]:
    """Return the sections of a text.

    Raises:
        ValueError: a line is neither a section nor a key of one.
    """
    sections: dict[Section, Values] = {}
    values: Values | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        plain = line.strip()
        if not plain or plain[0] in ";#":
            continue
        if found := _SECTION.fullmatch(plain):
            values = sections.setdefault((found[1].lower(), _unescaped(found[2] or "")), {})
            continue
        pair = _KEY.fullmatch(plain.rstrip())
        if pair is None or values is None:
            raise ValueError(f"line {number} is neither a section nor a key of one")
        values.setdefault(pair[1].lower(), []).append(_value(pair[2]))
    return sections


def boolean(text: str) -> bool:
    """Return what a word says.

    Raises:
        ValueError: it says neither.
    """
    if (word := text.lower()) not in {"true", "yes", "on", "1", "false", "no", "off", "0"}:
        raise ValueError(f"{text!r} is neither true nor false")
    return word in {"true", "yes", "on", "1"}


def fields_of(shape: type[Options], section: str, values: Mapping[str, list[str]], ignored: frozenset[str]) -> Options:
    """Return a section as a record, whose fields' names are its keys: dashes as underscores, or without any.

    A field is text, a number, yes or no, or a list, as its default is; a key that stands twice for one value has the
    last. Keys that are `ignored` have no effect.

    Raises:
        ValueError: an unknown key, or a value of another kind.
    """
    by_key = {name.replace("_", ""): name for name in shape.field_names}
    given: dict[str, object] = {}
    for key, texts in values.items():
        if key in ignored:
            continue
        name = by_key.get(re.sub(r"[-_]", "", key))
        if name is None:
            known = ", ".join(sorted(each.replace("_", "-") for each in shape.field_names))
            raise ValueError(f"[{section}] has an unknown key {key!r} (known: {known})")
        try:
            given[name] = _as(getattr(shape, name), texts)
        except ValueError as error:
            raise ValueError(f"[{section}] {key}: {error}") from error
    return shape(**given)


def _as(default: object, texts: list[str]) -> object:
    if isinstance(default, bool):
        return boolean(texts[-1])
    if isinstance(default, int):
        return int(texts[-1])
    if isinstance(default, tuple):
        return tuple(part.strip() for text in texts for part in text.split(",") if part.strip())
    return texts[-1]


def _value(rest: str | None) -> str:
    if rest is None:
        return "true"
    text = rest[1:].strip()
    if text.startswith('"') and (found := _QUOTED.match(text)):
        return _unescaped(found[1])
    return re.split(r"\s*[;#]", text, maxsplit=1)[0].strip()


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text)
