"""Label selectors: ``app=web,tier in (a,b),!canary``.

A text or a ``LabelSelector`` object is compiled once into a `Selector`, whose `Selector.matches` is a few dictionary
look-ups. Source of grammar and messages: kubernetes apimachinery ``pkg/labels/selector.go``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import NamedTuple

from hyperkube.machinery import field as fields
from hyperkube.machinery import names
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.field import ROOT, FieldError, Path
from hyperkube.machinery.intstr import parse_int
from hyperkube.machinery.objects import Object

IN, NOT_IN = "in", "notin"
EQUALS, DOUBLE_EQUALS, NOT_EQUALS = "=", "==", "!="
GREATER_THAN, LESS_THAN = "gt", "lt"
EXISTS, DOES_NOT_EXIST = "exists", "!"

_BINARY_OPERATORS = (IN, NOT_IN, EQUALS, DOUBLE_EQUALS, NOT_EQUALS, GREATER_THAN, LESS_THAN)
_EXACT = frozenset({EQUALS, DOUBLE_EQUALS, NOT_EQUALS, GREATER_THAN, LESS_THAN})
_SYMBOLS = {"=": EQUALS, "==": DOUBLE_EQUALS, "!=": NOT_EQUALS, ">": GREATER_THAN, "<": LESS_THAN}
_WRITTEN = {GREATER_THAN: ">", LESS_THAN: "<"}
_OBJECT_OPERATORS = {"In": IN, "NotIn": NOT_IN, "Exists": EXISTS, "DoesNotExist": DOES_NOT_EXIST}
_NODE_OPERATORS = {**_OBJECT_OPERATORS, "Gt": GREATER_THAN, "Lt": LESS_THAN}

_FEW = 16
"""Requirements, and values of one, that are compared one by one; more are gathered by label first."""

_TOKEN = re.compile(r"[ \t\r\n]*(?:(?P<symbol>==|!=|[=!(),<>])|(?P<word>[^ \t\r\n=!(),<>]+)|$)")
_END = ""


class SelectorError(HyperkubeError, ValueError):
    """A text or object that is no label selector; the message is Kubernetes' own."""


class Requirement(NamedTuple):
    """One condition on one label; build it with `requirement`, which checks it."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether the labels fulfil it."""
        key, operator, values = self
        if operator in {EQUALS, IN, DOUBLE_EQUALS}:
            return key in labels and labels[key] in values
        if operator in {NOT_EQUALS, NOT_IN}:
            return key not in labels or labels[key] not in values
        if operator == EXISTS:
            return key in labels
        if operator == DOES_NOT_EXIST:
            return key not in labels
        actual, wanted = parse_int(labels.get(key, "")), parse_int(values[0])
        if actual is None or wanted is None:
            return False
        return actual > wanted if operator == GREATER_THAN else actual < wanted

    def __str__(self) -> str:
        if self.operator == EXISTS:
            return self.key
        if self.operator == DOES_NOT_EXIST:
            return f"!{self.key}"
        values = ",".join(sorted(self.values))
        if self.operator in {IN, NOT_IN}:
            return f"{self.key} {self.operator} ({values})"
        return f"{self.key}{_WRITTEN.get(self.operator, self.operator)}{values}"


@dataclass(frozen=True, slots=True)
class Selector:
    """All requirements must hold. None at all select everything, unless `selects_nothing`."""

    requirements: tuple[Requirement, ...] = ()
    selects_nothing: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the selector lets everything through."""
        return not self.requirements and not self.selects_nothing

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        """Tell whether an object with these labels is selected; None counts as no labels."""
        if self.selects_nothing:
            return False
        labels = labels or {}
        # A plain loop: schedulers and controllers ask this of thousands of objects at a time.
        for requirement in self.requirements:  # noqa: SIM110
            if not requirement.matches(labels):
                return False
        return True

    def exact(self, key: str) -> str | None:
        """Return the one value that label `key` must have, or None when the selector does not pin it."""
        for requirement in self.requirements:
            if requirement.key == key:
                pinned = requirement.operator in {EQUALS, DOUBLE_EQUALS, IN} and len(requirement.values) == 1
                return requirement.values[0] if pinned else None
        return None

    def with_requirements(self, *more: Requirement) -> Selector:
        """Return the selector narrowed by more requirements."""
        return self if self.selects_nothing else _sorted([*self.requirements, *more])

    def __str__(self) -> str:
        return ",".join(str(requirement) for requirement in self.requirements)


EVERYTHING = Selector()
NOTHING = Selector(selects_nothing=True)


class _Gathered:
    """Requirements gathered by label: a match costs what an object's labels are, however long the selector is."""

    def __init__(self, requirements: Iterable[Requirement]) -> None:
        self._needed: dict[str, set[str] | None] = {}  # None: with any value
        self._refused: dict[str, set[str]] = {}
        self._absent: set[str] = set()
        self._above: dict[str, float] = {}
        self._below: dict[str, float] = {}
        for key, operator, values in requirements:
            if operator == DOES_NOT_EXIST:
                self._absent.add(key)
            elif operator in {NOT_EQUALS, NOT_IN}:
                self._refused.setdefault(key, set()).update(values)
            elif operator in {EQUALS, DOUBLE_EQUALS, IN}:
                allowed = self._needed.get(key)
                self._needed[key] = set(values) if allowed is None else allowed.intersection(values)
            else:
                self._needed.setdefault(key, None)
                if operator != EXISTS:
                    self._limit(key, operator, parse_int(values[0]))

    def _limit(self, key: str, operator: str, wanted: int | None) -> None:
        if operator == GREATER_THAN:
            self._above[key] = max(self._above.get(key, -math.inf), math.inf if wanted is None else wanted)
        else:
            self._below[key] = min(self._below.get(key, math.inf), -math.inf if wanted is None else wanted)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether the labels fulfil all of them."""
        if len(self._needed) > len(labels) or not all(key in labels for key in self._needed):
            return False
        for key, value in labels.items():
            allowed = self._needed.get(key)
            if (
                key in self._absent
                or value in self._refused.get(key, ())
                or (allowed is not None and value not in allowed)
            ):
                return False
        numbers = {key: parse_int(labels[key]) for key in self._above | self._below}
        return all(
            number is not None and self._above.get(key, -math.inf) < number < self._below.get(key, math.inf)
            for key, number in numbers.items()
        )


@dataclass(frozen=True, slots=True)
class _LongSelector(Selector):
    """A selector of more requirements than are asked one by one."""

    gathered: _Gathered = field(kw_only=True, compare=False, repr=False)

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        """Tell whether an object with these labels is selected."""
        return self.gathered.matches(labels or {})


def _sorted(requirements: Iterable[Requirement]) -> Selector:
    listed = tuple(sorted(requirements, key=lambda requirement: requirement.key))
    few = len(listed) <= _FEW and all(len(each.values) <= _FEW for each in listed)
    return Selector(listed) if few else _LongSelector(listed, gathered=_Gathered(listed))


def _key_error(key: str, path: Path) -> list[FieldError]:
    messages = names.label_key(key)
    return [fields.invalid(path, key, "; ".join(messages))] if messages else []


def requirement(key: str, operator: str, values: Sequence[str] = (), path: Path = ROOT) -> Requirement:
    """Return a checked requirement.

    Raises:
        SelectorError: with all that is wrong, as Kubernetes lists it.
    """
    listed = list(values)
    errors = _key_error(key, path.child("key")) + _count_errors(operator, listed, path)
    for index, value in enumerate(listed):
        messages = names.label_value(value)
        if messages:
            errors.append(fields.invalid(path.child("values").index(index).key(key), value, "; ".join(messages)))
    if errors:
        raise SelectorError(aggregate(errors))
    return Requirement(key, operator, tuple(listed))


def _count_errors(operator: str, values: list[str], path: Path) -> list[FieldError]:
    """Return what is wrong with the operator, and with how many values it has."""
    at = path.child("values")
    if operator in {IN, NOT_IN}:
        wrong = "for 'in', 'notin' operators, values set can't be empty" if not values else ""
    elif operator in {EQUALS, DOUBLE_EQUALS, NOT_EQUALS}:
        wrong = "exact-match compatibility requires one single value" if len(values) != 1 else ""
    elif operator in {EXISTS, DOES_NOT_EXIST}:
        wrong = "values set must be empty for exists and does not exist" if values else ""
    elif operator in {GREATER_THAN, LESS_THAN}:
        return _number_errors(values, at)
    else:
        return [fields.not_supported(path.child("operator"), operator, [*_BINARY_OPERATORS, EXISTS, DOES_NOT_EXIST])]
    return [fields.invalid(at, values, wrong)] if wrong else []


def _number_errors(values: list[str], at: Path) -> list[FieldError]:
    errors = []
    if len(values) != 1:
        errors.append(fields.invalid(at, values, "for 'Gt', 'Lt' operators, exactly one value is required"))
    text = "for 'Gt', 'Lt' operators, the value must be an integer"
    errors += [
        fields.invalid(at.index(index), value, text) for index, value in enumerate(values) if parse_int(value) is None
    ]
    return errors


class _Tokens:
    """The words and symbols of a selector's text, read one by one; an empty word is the end."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[bool, str]] = []
        for match in _TOKEN.finditer(text):
            symbol, word = match["symbol"], match["word"]
            self._tokens.append((word is not None, symbol or word or _END))
        self._at = 0

    def peek(self) -> tuple[bool, str]:
        """Return (is a word, text) of the next token without taking it."""
        return self._tokens[self._at] if self._at < len(self._tokens) else (False, _END)

    def take(self) -> tuple[bool, str]:
        """Return the next token and step over it."""
        token = self.peek()
        self._at += 1
        return token


def parse_selector(text: str) -> Selector:
    """Read the text form of a selector.

    Raises:
        SelectorError: with Kubernetes' message, which a server answers as 400 BadRequest.
    """
    if not text:
        return EVERYTHING
    return _parse(text) if len(text) <= _LONGEST_KEPT else _parse.__wrapped__(text)


_LONGEST_KEPT = 1024  # longer ones are read anew each time, so that clients cannot fill the memory


@lru_cache(maxsize=1024)
def _parse(text: str) -> Selector:
    tokens = _Tokens(text)
    requirements: list[Requirement] = []
    while True:
        is_word, literal = tokens.peek()
        if not is_word and literal == _END:
            return _sorted(requirements)
        if not is_word and literal != "!":
            raise SelectorError(f"found '{literal}', expected: !, identifier, or 'end of string'")
        try:
            requirements.append(_read_requirement(tokens))
        except SelectorError as error:
            raise SelectorError(f"unable to parse requirement: {error}") from error
        is_word, literal = tokens.take()
        if not is_word and literal == _END:
            return _sorted(requirements)
        if is_word or literal != ",":
            raise SelectorError(f"found '{literal}', expected: ',' or 'end of string'")
        is_word, literal = tokens.peek()
        if not is_word and literal != "!":
            raise SelectorError(f"found '{literal}', expected: identifier after ','")


def _read_requirement(tokens: _Tokens) -> Requirement:
    is_word, key = tokens.take()
    negated = not is_word and key == "!"
    if negated:
        is_word, key = tokens.take()
    if not is_word:
        raise SelectorError(f"found '{key}', expected: identifier")
    errors = _key_error(key, ROOT)
    if errors:
        raise SelectorError(str(errors[0]))
    follows_word, following = tokens.peek()
    if negated:
        return requirement(key, DOES_NOT_EXIST)
    if not follows_word and following in {_END, ","}:
        return requirement(key, EXISTS)
    operator = _read_operator(tokens)
    values = _read_exact(tokens) if operator in _EXACT else _read_set(tokens)
    return requirement(key, operator, sorted(set(values)))


def _read_operator(tokens: _Tokens) -> str:
    is_word, literal = tokens.take()
    if is_word and literal in {IN, NOT_IN}:
        return literal
    if not is_word and literal in _SYMBOLS:
        return _SYMBOLS[literal]
    raise SelectorError(f"found '{literal}', expected: {', '.join(_BINARY_OPERATORS)}")


def _read_exact(tokens: _Tokens) -> list[str]:
    is_word, literal = tokens.peek()
    if not is_word and literal in {_END, ","}:
        return [""]
    tokens.take()
    if is_word:
        return [literal]
    raise SelectorError(f"found '{literal}', expected: identifier")


def _read_set(tokens: _Tokens) -> list[str]:
    is_word, literal = tokens.take()
    if is_word or literal != "(":
        raise SelectorError(f"found '{literal}' expected: '('")
    is_word, literal = tokens.peek()
    if not is_word and literal == ")":
        tokens.take()
        return [""]
    if not is_word and literal != ",":
        raise SelectorError(f"found '{literal}', expected: ',', ')' or identifier")
    values: list[str] = []
    while True:
        is_word, literal = tokens.take()
        next_is_word, following = tokens.peek()
        closes = not next_is_word and following == ")"
        if is_word:
            values.append(literal)
            if not closes and (next_is_word or following != ","):
                raise SelectorError(f"found '{following}', expected: ',' or ')'")
        elif literal == ",":
            if not values or closes or (not next_is_word and following == ","):
                values.append("")
        else:
            raise SelectorError(f"found '{literal}', expected: ',', or identifier")
        if closes:
            tokens.take()
            return values


def selector_from_map(labels: Mapping[str, str] | None) -> Selector:
    """Return the selector for objects that carry all of these labels; none at all select everything."""
    return _sorted(Requirement(key, EQUALS, (value,)) for key, value in (labels or {}).items())


def from_label_selector(selector: Object | None) -> Selector:
    """Compile a ``LabelSelector`` object: None selects nothing, an empty one everything.

    Raises:
        SelectorError: an operator, key or value that is not valid.
    """
    if selector is None:
        return NOTHING
    requirements = [requirement(key, EQUALS, [value]) for key, value in (selector.get("matchLabels") or {}).items()]
    requirements += _from_expressions(selector.get("matchExpressions") or [], _OBJECT_OPERATORS, "label")
    return _sorted(requirements)


def from_node_selector_expressions(expressions: Sequence[Object]) -> Selector:
    """Compile the ``matchExpressions`` of a node selector term, which may also compare numbers (Gt, Lt).

    Raises:
        SelectorError: an operator, key or value that is not valid.
    """
    return _sorted(_from_expressions(expressions, _NODE_OPERATORS, "node"))


def _from_expressions(expressions: Sequence[Object], operators: Mapping[str, str], what: str) -> list[Requirement]:
    requirements = []
    for expression in expressions:
        operator = operators.get(expression.get("operator", ""))
        if operator is None:
            shown = fields.quote(expression.get("operator", ""))
            raise SelectorError(f"{shown} is not a valid {what} selector operator")
        requirements.append(requirement(expression.get("key", ""), operator, expression.get("values") or []))
    return requirements
