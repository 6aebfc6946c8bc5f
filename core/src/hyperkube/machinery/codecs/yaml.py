"""YAML as sigs.k8s.io/yaml reads it: YAML 1.1 of go-yaml v2, whose results are JSON.

``yes``, ``on`` and ``y`` are booleans, dates are text, octal is ``0644``, and the last of duplicate keys counts.
"""

from __future__ import annotations

import math
import re
from dataclasses import field as dataclass_field
from functools import lru_cache
from typing import Any

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.field import quote
from hyperkube.machinery.numbers import without_fraction

_BOOLS = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INT = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_ALIAS = re.compile(r"\*([0-9A-Za-z_-]+)")
_SPECIAL = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}
_TAGS = "tag:yaml.org,2002:"
_PLAIN = "!plain"  # stands for: neither quoted nor tagged
_MERGE = object()
_MAX_DEPTH = 1000
_MAX_SIZE = 400_000
_TEXT = 64  # as many characters count for one more value
_MOST_TOLD = 1 << 20  # characters of messages about duplicate keys
_MOST_DIRECTIVES = 100  # the reader compares each with all before it
_MOST_DIGITS = 400  # beyond all that a float can hold
_TOO_DEEP = "yaml: exceeded max depth"
_TOO_MANY_ALIASES = "yaml: document contains excessive aliasing"
_GO_EXPONENT = 1e21  # from here on Go writes an exponent


class YamlError(ValueError):
    """A body that is no YAML; the text is go-yaml's where it can be told."""


def loads(body: bytes) -> tuple[Any, list[str]]:
    """Read the first document of a body.

    Returns:
        The document as JSON, and ``line N: key "K" already set in map`` for every duplicate key.

    Raises:
        YamlError: the body is no YAML, or not expressible in JSON.
    """
    import yaml

    if body.count(b"\n%") > _MOST_DIRECTIVES:
        raise YamlError("yaml: found too many directives")
    try:
        _refuse_depth(body)
        node = next(iter(_nodes(body)), None)
    except yaml.YAMLError as error:
        raise YamlError(_why(error, body)) from error
    except UnicodeDecodeError as error:
        raise YamlError(f"yaml: {error}") from error
    reading = _Reading()
    try:
        value = None if node is None else _build(node, reading)
        if b"*" in body and _size(value, {}) > _MAX_SIZE:
            raise YamlError(_TOO_MANY_ALIASES)
    except RecursionError as error:
        raise YamlError(_TOO_DEEP) from error
    return value, reading.duplicates


@dataclass(slots=True)
class _Reading:
    """What is found while a document is built: duplicate keys, what anchors stand for, how much merges have copied."""

    duplicates: list[str] = dataclass_field(default_factory=list)
    built: dict[int, Any] = dataclass_field(default_factory=dict)
    copied: int = 0
    told: int = 0


def _size(value: Any, sizes: dict[int, int]) -> int:
    """Return how many values a document has once every alias is written out; `sizes` holds what was counted.

    Long texts count for more than one.

    Raises:
        YamlError: a value contains itself.
    """
    if not isinstance(value, dict | list):
        return 1 + (len(value) // _TEXT if isinstance(value, str) else 0)
    known = sizes.get(id(value))
    if known is None:
        sizes[id(value)] = 0
        items = value.values() if isinstance(value, dict) else value
        texts = sum(len(name) // _TEXT for name in value) if isinstance(value, dict) else 0
        known = sizes[id(value)] = 1 + texts + sum(_size(item, sizes) for item in items)
    elif known == 0:
        raise YamlError("yaml: anchor value contains itself")
    return known


def _refuse_depth(body: bytes) -> None:
    """Raise for a document that is deeper than the reader's stack, which would end the whole process.

    Flow collections need a bracket each, block collections a column of their own (a sequence may share its mapping's):
    most bodies are seen to be shallow by that alone.

    Raises:
        YamlError: it is too deep.
    """
    import yaml

    if body.count(b"[") + body.count(b"{") <= _MAX_DEPTH and (
        body.lstrip()[:1] in {b"{", b"["} or 2 * max(map(len, body.splitlines()), default=0) <= _MAX_DEPTH
    ):
        return
    depth = 0
    for event in yaml.parse(body, Loader=_loader()):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:
                raise YamlError(_TOO_DEEP)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.DocumentEndEvent):
            return


def _nodes(body: bytes) -> Any:
    import yaml

    return yaml.compose_all(body, Loader=_loader())


@lru_cache(maxsize=1)
def _loader() -> Any:
    """Return a loader that leaves the meaning of plain scalars to us."""
    import yaml

    class Loader(yaml.CSafeLoader):
        yaml_implicit_resolvers = {None: [(_PLAIN, re.compile(""))]}  # noqa: RUF012 -- the base class's own way

    return Loader


_PROBLEMS = {
    "expected the node content, but found": "did not find expected node content",
    "did not find expected node content": "did not find expected node content",
}


def _why(error: Any, body: bytes) -> str:
    """Return what go-yaml v2 says of a syntax error: it counts lines from 0, and names none for the first.

    Source: gopkg.in/yaml.v2 ``decode.go`` (parser.fail).
    """
    from yaml.composer import ComposerError
    from yaml.scanner import ScannerError

    mark, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    if isinstance(error, ComposerError) and mark is not None and problem == "found undefined alias":
        alias = _ALIAS.match(body.decode("utf-8", "replace").splitlines()[mark.line], mark.column)
        return f"yaml: unknown anchor '{alias[1] if alias else ''}' referenced"
    problem = next((text for start, text in _PROBLEMS.items() if problem.startswith(start)), problem)
    line = 0
    if mark is not None and mark.line:
        line = mark.line + (1 if isinstance(error, ScannerError) else 0)
    elif context is not None:
        line = context.line
    return f"yaml: line {line}: {problem}" if line else f"yaml: {problem}"


def _build(node: Any, reading: _Reading) -> Any:
    """Return the JSON value of a node."""
    if node.id == "scalar":
        return _json_scalar(_scalar(node))
    known = reading.built.get(id(node))
    if known is not None:
        return known
    if node.id == "sequence":
        items: list[Any] = []
        reading.built[id(node)] = items
        items += [_build(item, reading) for item in node.value]
        return items
    members: dict[str, Any] = {}
    reading.built[id(node)] = members
    _fill(members, node, reading)
    return members


def _fill(members: dict[str, Any], node: Any, reading: _Reading) -> None:
    merged: dict[str, Any] = {}
    met: set[str] = set()
    for key_node, value_node in node.value:
        key = _key(key_node, value_node)
        if key is _MERGE:
            sources = value_node.value if value_node.id == "sequence" else [value_node]
            for source in sources:
                _merge(merged, _build(source, reading), reading)
            continue
        if key in met and reading.told < _MOST_TOLD:
            told = f'line {value_node.start_mark.line + 1}: key "{key}" already set in map'
            reading.told += len(told)
            reading.duplicates.append(told)
        met.add(key)
        members[key] = _build(value_node, reading)
    for key, value in merged.items():
        members.setdefault(key, value)


def _merge(merged: dict[str, Any], source: Any, reading: _Reading) -> None:
    """Add what a merge key names, where nothing of that name is; what all merges copy is bounded as aliases are.

    Raises:
        YamlError: it is no map, or too much.
    """
    if not isinstance(source, dict):
        raise YamlError("yaml: map merge requires map or sequence of maps as the value")
    reading.copied += len(source)
    if reading.copied > _MAX_SIZE:
        raise YamlError(_TOO_MANY_ALIASES)
    for key, value in source.items():
        merged.setdefault(key, value)


def _key(node: Any, value_node: Any) -> Any:
    """Return a key as JSON's text.

    Raises:
        YamlError: JSON has no such key: a collection, or null.
    """
    if node.id != "scalar":
        raise YamlError(f"yaml: invalid map key: {_go_syntax(_build(node, _Reading()))}")
    if node.tag == _PLAIN and node.value == "<<":
        return _MERGE
    value = _scalar(node)
    if value is None:
        shown = _go_syntax(_build(value_node, _Reading()))
        raise YamlError(f"unsupported map key of type: %!s(<nil>), key: <nil>, value: {shown}")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _go_syntax(value: Any) -> str:
    """Return a value as Go's ``%+#v`` writes it.

    Raises:
        YamlError: its aliases, written out, are too many.
    """
    if _size(value, {}) > _MAX_SIZE:
        raise YamlError(_TOO_MANY_ALIASES)
    return _go_text(value)


def _go_text(value: Any) -> str:
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        members = ", ".join(f"{quote(name)}:{_go_text(member)}" for name, member in sorted(value.items()))
        return f"map[interface {{}}]interface {{}}{{{members}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(_go_text(item) for item in value)}}}"
    return _written(value)


def _scalar(node: Any) -> Any:
    if node.tag == _PLAIN:
        return plain_value(node.value)
    return _tagged(node.tag.removeprefix(_TAGS), node.value)


def _tagged(tag: str, text: str) -> Any:
    """Return the value of a scalar that is quoted (a string) or has a tag of its own, such as ``!!int``."""
    if tag == "str":
        return text
    if tag == "binary":
        import base64

        try:
            return base64.b64decode(text.replace("\n", ""), validate=True).decode("utf-8", "replace")
        except ValueError as error:
            raise YamlError("yaml: !!binary value contains invalid base64 data") from error
    value = plain_value(text)
    return float(value) if tag == "float" and isinstance(value, int) else value


def plain_value(text: str) -> Any:
    """Return what a plain scalar means: null, a boolean, a number or the text.

    Source: go-yaml v2 ``resolve.go``.
    """
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if text[0] not in "+-.0123456789":
        return text
    bare = text.replace("_", "")
    if _INT.fullmatch(bare):
        number = _integer(bare)
        return text if number is None else number
    if _FLOAT.fullmatch(bare):
        return float(bare) if math.isfinite(float(bare)) else text
    return _SPECIAL.get(text.lower(), text) if text.lower() in _SPECIAL else text


def _integer(text: str) -> int | float | None:
    """Return a whole number: as a float beyond 64 bits, and None for one that even those cannot hold."""
    sign = -1 if text[0] == "-" else 1
    digits = text.lstrip("+-").lower()
    if len(digits) <= _MOST_DIGITS:
        octal = digits.startswith("0") and len(digits) > 1
        value = sign * int(digits, (0 if digits[1] in "xbo" else 8) if octal else 10)
        if -(2**63) <= value < 2**64:
            return value
    number = float(digits) * sign if digits.isdecimal() else math.inf
    return number if math.isfinite(number) else None


def _json_scalar(value: Any) -> Any:
    """Write whole numbers as Go does, without a fraction, and refuse those that JSON does not have."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        raise YamlError(f"json: unsupported value: {'NaN' if math.isnan(value) else '+Inf' if value > 0 else '-Inf'}")
    return without_fraction(value)


def _written(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return str(int(value)) if value.is_integer() and abs(value) < _GO_EXPONENT else repr(value)
