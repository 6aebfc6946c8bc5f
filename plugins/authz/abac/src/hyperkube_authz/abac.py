"""ABAC: who may do what stands in a file, one JSON object per line.

A line allows; nothing denies. Lines without a version are the first form, in which what is left out means everything.
The file is read once, at start.
Source: kubernetes ``pkg/auth/authorizer/abac/abac.go``, ``pkg/apis/abac/{v0,v1beta1}/conversion.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authz import Attributes, Decision, Rules
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record
from hyperkube.machinery.users import AUTHENTICATED_GROUP, UserInfo
from hyperkube.plugin import Plugin, PluginContext

_VERSION = "abac.authorization.kubernetes.io/v1beta1"
_ALLOWED = Decision("allow")
_NO_MATCH = Decision("no opinion", "No policy matched.")
_READS = frozenset({"get", "list", "watch"})
_FIELDS = ("user", "group", "namespace", "resource", "apiGroup", "nonResourcePath")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What one line allows; ``*`` is everything, the empty text nothing."""

    user: str = ""
    group: str = ""
    namespace: str = ""
    resource: str = ""
    api_group: str = ""
    path: str = ""
    readonly: bool = False

    def is_about(self, user: UserInfo) -> bool:
        """Tell whether this line is for that user: every one of user and group that it names must fit."""
        if self.user and self.user not in {"*", user.name}:
            return False
        if self.group and self.group != "*" and self.group not in user.groups:
            return False
        return bool(self.user or self.group)

    def allows(self, asked: Attributes) -> bool:
        """Tell whether this line allows that."""
        if not self.is_about(asked.user) or (self.readonly and asked.verb not in _READS):
            return False
        if not asked.is_resource:
            return _path_fits(self.path, asked.path)
        return (
            self.namespace in {"*", asked.namespace}
            and self.resource in {"*", asked.resource}
            and self.api_group in {"*", asked.group}
        )


def _path_fits(pattern: str, path: str) -> bool:
    if pattern.endswith("*"):
        return path.startswith(pattern.rstrip("*"))
    return bool(pattern) and pattern == path


def parse(line: str) -> Policy:
    """Return the policy of a line.

    Raises:
        ValueError: it is no JSON object of a known form.
    """
    table = orjson.loads(line)
    if not isinstance(table, dict):
        raise ValueError(f"{line!r} is no JSON object")  # noqa: TRY004  a wrong file, not a wrong call
    if "apiVersion" not in table and "kind" not in table:
        return _first_form(_read(table))
    if (table.get("apiVersion"), table.get("kind")) != (_VERSION, "Policy"):
        raise ValueError(f"{table.get('kind')!r} of {table.get('apiVersion')!r} is not 'Policy' of {_VERSION!r}")
    policy = _read(table.get("spec") or {})
    return replace(policy, group=AUTHENTICATED_GROUP) if "*" in {policy.user, policy.group} else policy


def _read(table: Mapping[str, Any]) -> Policy:
    unknown = sorted(set(table) - {*_FIELDS, "readonly"})
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r} (known: {', '.join(sorted({*_FIELDS, 'readonly'}))})")
    texts = {field: table.get(field, "") for field in _FIELDS}
    if not all(isinstance(value, str) for value in texts.values()) or not isinstance(
        table.get("readonly", False), bool
    ):
        raise ValueError("a field is of the wrong type")
    return Policy(
        user=texts["user"], group=texts["group"], namespace=texts["namespace"], resource=texts["resource"],
        api_group=texts["apiGroup"], path=texts["nonResourcePath"], readonly=table.get("readonly", False),
    )  # fmt: skip


def _first_form(policy: Policy) -> Policy:
    """Return what a line without a version means: empty is everything, for every authenticated user."""
    everybody = not (policy.user or policy.group) or "*" in {policy.user, policy.group}
    return replace(
        policy,
        group=AUTHENTICATED_GROUP if everybody else policy.group,
        namespace=policy.namespace or "*",
        resource=policy.resource or "*",
        api_group="*",
        path="*" if not policy.namespace and not policy.resource else "",
    )


def read_policies(path: str) -> tuple[Policy, ...]:
    """Return the policies of a file; empty lines and those that begin with ``#`` are skipped.

    Raises:
        UsageError: the file cannot be read, or a line is wrong.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read policy file {path!r}: {error}") from error
    policies = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            policies.append(parse(text))
        except ValueError as error:
            raise UsageError(f"error reading policy file {path}, line {number}: {line}: {error}") from error
    return tuple(policies)


class Settings(Record):
    """The file with the policies."""

    authorization_policy_file: str = ""


class ABAC(Plugin):
    """Allows what a line of ``--authorization-policy-file`` allows."""

    may_block = False

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        path = self.settings(Settings).authorization_policy_file
        if not path:
            raise UsageError("authorization-mode ABAC's authorization policy file not passed")
        self._policies = read_policies(path)

    @hookimpl
    def authz_authorize(self, attributes: Attributes) -> Decision:
        """Find a line that allows it."""
        return _ALLOWED if any(policy.allows(attributes) for policy in self._policies) else _NO_MATCH

    @hookimpl
    def authz_epoch(self) -> int:
        """Never change: the file is read once."""
        return 0

    @hookimpl
    def authz_rules(self, user: UserInfo, namespace: str) -> Rules:
        """List what the user's lines allow in the namespace."""
        resources: list[Object] = []
        paths: list[Object] = []
        for policy in self._policies:
            if not policy.is_about(user) or policy.namespace not in {"*", namespace}:
                continue
            verbs = sorted(_READS) if policy.readonly else ["*"]
            if policy.resource:
                resources.append({"verbs": verbs, "apiGroups": [policy.api_group], "resources": [policy.resource]})
            if policy.path:
                paths.append({"verbs": verbs, "nonResourceURLs": [policy.path]})
        return Rules(resources, paths)
