"""Finds the FlowSchema of a request by look-ups: to compare each request with all rules takes longer than to answer it.

A thousand kubelets are a thousand users, each of whom does the same few things. So who asks is compared with the
subjects of the rules once for each user, and what is asked with the rest of a rule once for all users whom the same
rules name.

Readers take no lock: an entry depends on nothing but its key, and it does not matter which of two equal ones stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from hyperkube_host.apiserver.flowcontrol.flow_schemas import FlowSchema, rule_covers, rule_names
from hyperkube_host.apiserver.request.request_info import RequestInfo

from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import UserInfo

USERS_MAX, ASKED_MAX = 16_384, 4096
"""Users, and kinds of request of theirs, that are remembered: both are written by clients."""

_Asked: TypeAlias = tuple[str, str, str, str, str]
_Rules: TypeAlias = tuple[tuple[int, int], ...]
"""Places of rules: of the schema in its order, and of the rule in it."""


class Classification:
    """The schemas of one configuration in the order in which they are asked, and the one for all other requests."""

    def __init__(self, schemas: Sequence[FlowSchema], otherwise: FlowSchema) -> None:
        self._schemas = schemas
        self._otherwise = otherwise
        self._by_user: dict[UserInfo, _Found] = {}
        self._by_rules: dict[_Rules, _Found] = {}

    def schema_of(self, info: RequestInfo, user: UserInfo) -> FlowSchema:
        """Return the first schema with a rule that matches a request."""
        found = self._by_user.get(user) or self._learn(user)
        if info.is_resource:
            what = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
            asked = (info.verb, info.group, what, info.namespace, "")
        else:
            asked = (info.verb, "", "", "", info.path)
        schema = found.schemas.get(asked)
        if schema is None:
            schema = next((one for one, rule in found.rules if rule_covers(rule, info)), self._otherwise)
            if len(found.schemas) >= ASKED_MAX:
                found.schemas.clear()
            found.schemas[asked] = schema
        return schema

    def _learn(self, user: UserInfo) -> _Found:
        places = tuple(
            (place, number)
            for place, schema in enumerate(self._schemas)
            for number, rule in enumerate(schema.rules)
            if rule_names(rule, user)
        )
        if len(self._by_user) >= USERS_MAX:
            self._by_user.clear()
            self._by_rules.clear()
        found = self._by_rules.setdefault(places, _Found(self._schemas, places))
        self._by_user[user] = found
        return found


class _Found:
    """The rules that name certain users, and the schemas that they gave so far."""

    __slots__ = ("rules", "schemas")

    def __init__(self, schemas: Sequence[FlowSchema], places: _Rules) -> None:
        self.rules: list[tuple[FlowSchema, Object]] = [
            (schemas[place], schemas[place].rules[number]) for place, number in places
        ]
        self.schemas: dict[_Asked, FlowSchema] = {}
