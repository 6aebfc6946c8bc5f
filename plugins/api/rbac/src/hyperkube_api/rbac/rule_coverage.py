"""Which of the rules to be given do the rules that a user has not cover.

A rule allows every combination of its verbs, groups, resources and names: a hundred of each in a few kilobytes are a
million, so combinations are not tried one by one. Each value is looked up once, and stands for the set of owned rules
that have it, as bits of a number; a combination is covered when the sets of its values have a rule in common.
Source of what is covered, and of the texts: component-helpers ``auth/rbac/validation/policy_comparator.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from hyperkube.kinds.rbac import ALL
from hyperkube.machinery.objects import Object

MOST_MISSING = 1_000
"""As many combinations are listed as missing; all the others would only make the message longer."""

Dimension: TypeAlias = list[tuple[str, int]]
"""The values of one member of a rule, each with the bits of the owned rules that have it."""


def uncovered(owned: Iterable[Object], wanted: Iterable[Object]) -> list[Object]:
    """Return the wanted rules, split into rules of one verb each, that no owned rule covers: the first of very many."""
    held = _Held(list(owned))
    return list(islice((missing for rule in wanted for missing in held.lacks(rule)), MOST_MISSING))


class _Held:
    """The rules that a user has, by the values they list."""

    def __init__(self, rules: Sequence[Object]) -> None:
        def bits(member: str) -> dict[str, int]:
            found: dict[str, int] = {}
            for index, rule in enumerate(rules):
                for value in rule.get(member) or ():
                    found[value] = found.get(value, 0) | 1 << index
            return found

        self._verbs, self._groups, self._resources = bits("verbs"), bits("apiGroups"), bits("resources")
        self._urls, self._names = bits("nonResourceURLs"), bits("resourceNames")
        self._any_name = sum(1 << index for index, rule in enumerate(rules) if not rule.get("resourceNames"))
        self._prefixes = [(url[:-1], held) for url, held in self._urls.items() if url.endswith("*")]

    def lacks(self, rule: Object) -> Iterator[Object]:
        """Yield what of a rule is not held."""
        verbs = _dimension(rule.get("verbs"), lambda verb: self._verbs.get(verb, 0) | self._verbs.get(ALL, 0))
        for url, verb in _missing([_dimension(rule.get("nonResourceURLs"), self._having_url), verbs]):
            yield {"verbs": [verb], "nonResourceURLs": [url]}
        groups = _dimension(rule.get("apiGroups"), lambda group: self._groups.get(group, 0) | self._groups.get(ALL, 0))
        resources = _dimension(rule.get("resources"), self._having_resource)
        names = _dimension(rule.get("resourceNames") or [""], lambda name: self._names.get(name, 0) | self._any_name)
        for group, resource, verb, name in _missing([groups, resources, verbs, names]):
            named = {"resourceNames": [name]} if rule.get("resourceNames") else {}
            yield {"verbs": [verb], "apiGroups": [group], "resources": [resource], **named}

    def _having_url(self, url: str) -> int:
        held = self._urls.get(url, 0)
        for prefix, those in self._prefixes:
            if url.startswith(prefix):
                held |= those
        return held

    def _having_resource(self, resource: str) -> int:
        held = self._resources.get(resource, 0) | self._resources.get(ALL, 0)
        _, slash, subresource = resource.partition("/")
        return held | self._resources.get(f"*/{subresource}", 0) if slash else held


def _dimension(values: Sequence[str] | None, having: Callable[[str], int]) -> Dimension:
    return [(value, having(value)) for value in values or ()]


def _missing(dimensions: Sequence[Dimension]) -> Iterator[tuple[str, ...]]:
    """Yield the combinations, one value of each dimension, that no rule has altogether, in their order.

    Beginnings that the same rules have go on alike: what is missing after them is worked out once.
    """
    known: dict[tuple[int, int], Dimension] = {}
    if not all(dimensions):
        return

    def lacking(level: int, held: int) -> Dimension:
        """Return the values of a dimension after which something is missing."""
        found = known.get((level, held))
        if found is None:
            last = level + 1 == len(dimensions)
            found = [
                (value, held & own)
                for value, own in dimensions[level]
                if not held & own or (not last and lacking(level + 1, held & own))
            ]
            known[level, held] = found
        return found

    def follow(level: int, held: int, before: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for value, left in lacking(level, held):
            if level + 1 == len(dimensions):
                yield (*before, value)
            else:
                yield from follow(level + 1, left, (*before, value))

    yield from follow(0, -1, ())


def compacted(rules: Iterable[Object]) -> list[Object]:
    """Merge rules on the same single resource into one with all their verbs, the others before them."""
    verbs: dict[tuple[str, ...], dict[str, None]] = {}
    simple: dict[tuple[str, ...], Object] = {}
    rest: list[Object] = []
    for rule in rules:
        key = _simple_key(rule)
        if key is None:
            rest.append(rule)
        else:
            simple.setdefault(key, rule)
            verbs.setdefault(key, {}).update(dict.fromkeys(rule["verbs"]))
    return [*rest, *({**rule, "verbs": list(verbs[key])} for key, rule in simple.items())]


def _simple_key(rule: Object) -> tuple[str, ...] | None:
    groups: Sequence[str] = rule.get("apiGroups") or ()
    resources: Sequence[str] = rule.get("resources") or ()
    names: Sequence[str] = rule.get("resourceNames") or ()
    if len(groups) != 1 or len(resources) != 1 or len(names) > 1 or rule.get("nonResourceURLs"):
        return None
    return (groups[0], resources[0], *names)
