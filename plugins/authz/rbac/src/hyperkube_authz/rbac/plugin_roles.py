"""Roles that plugins bring along: the rules of their accounts, in ``rbac.toml`` beside them.

Each installed plugin may have a table of its name there (see `hyperkube.plugin.data_files`)::

    [website]
    rules = [
        {apiGroups = ["example.com"], resources = ["websites", "websites/status"], verbs = ["get", "list", "update"]},
    ]

A controller's rules are its service account's, a scheduling plugin's the scheduler's, a proxier's the proxy's; any
other account is named: ``service_account`` (in ``kube-system``), ``user`` or ``group``. No plugin is imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import EntryPoint
from typing import Any

from hyperkube.kinds.rbac import RBAC_GROUP
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.suggestions import known_names
from hyperkube.plugin.data_files import data_file, read_data
from hyperkube.plugin.loader import SeenPath, installed, installed_families, one_look, state_of_path

FILE = "rbac"
_CONTROLLERS = "controller"
_LISTED_AGAIN = "cloud_controller"
"""A group that lists some controllers once more, for a server that runs just these."""
_USERS = {"scheduler": "system:kube-scheduler", "proxier": "system:kube-proxy"}
_WITHIN_API_SERVER = frozenset({"admission", "api", "authn", "authz", "policy", "storage"})
"""Families whose plugins act as the API server itself and need no role."""
_SUBJECTS = {"service_account": "ServiceAccount", "user": "User", "group": "Group"}
_RULE = frozenset({"apiGroups", "resources", "resourceNames", "nonResourceURLs", "verbs"})


@dataclass(frozen=True, slots=True)
class PluginRole:
    """The rules of one plugin's account.

    Attributes:
        role: the ClusterRole that has them.
        subject: whom the role is bound to.
        rules: as a ClusterRole has them.
    """

    role: str
    subject: Object
    rules: list[Object]


def plugin_roles() -> Sequence[PluginRole]:
    """Return the roles of all installed plugins that bring one.

    Raises:
        UsageError: a file is wrong; the message names it.
    """
    return _plugin_roles(state_of_path())


@lru_cache(maxsize=1)
def _plugin_roles(_state: SeenPath) -> Sequence[PluginRole]:
    """Look for the files once for all API servers of a process."""
    with one_look():
        return tuple(
            _role(_CONTROLLERS if family == _LISTED_AGAIN else family, entry, table)
            for family in sorted(installed_families() - _WITHIN_API_SERVER)
            for entry in installed(family).values()
            if not (family == _LISTED_AGAIN and entry.name in installed(_CONTROLLERS))
            if (table := read_data(entry, FILE).get(entry.name)) is not None
        )


def _role(family: str, entry: EntryPoint, table: Any) -> PluginRole:
    where = f"{data_file(entry, FILE)}: {entry.name}"
    if not isinstance(table, Mapping):
        raise UsageError(f"{where} must be a table")
    for key in table:
        if key != "rules" and key not in _SUBJECTS:
            raise UsageError(f"{where}.{key} is unknown ({known_names(key, [*_SUBJECTS, 'rules'], 'known')})")
    kind, name = _account(family, entry, table, where)
    rules = list(_rules(table.get("rules"), where))
    if kind == "ServiceAccount":
        subject: Object = {"kind": kind, "name": name, "namespace": "kube-system"}
        return PluginRole(f"system:controller:{name}", subject, rules)
    return PluginRole(f"{name}:{entry.name}", {"kind": kind, "name": name, "apiGroup": RBAC_GROUP}, rules)


def _account(family: str, entry: EntryPoint, table: Mapping[str, Any], where: str) -> tuple[str, str]:
    """Return kind and name of the subject."""
    named = [(kind, table[key]) for key, kind in _SUBJECTS.items() if key in table]
    if len(named) > 1:
        raise UsageError(f"{where} names more than one account")
    if named:
        return named[0]
    if family == _CONTROLLERS:
        described = read_data(entry, "controller").get(entry.name, {})
        return "ServiceAccount", str(described.get("service_account", f"{entry.name}-controller"))
    if family in _USERS:
        return "User", _USERS[family]
    raise UsageError(f"{where} must name its account: one of {', '.join(_SUBJECTS)}")


def _rules(rules: Any, where: str) -> Iterator[Object]:
    if not isinstance(rules, list) or not all(isinstance(rule, Mapping) for rule in rules):
        raise UsageError(f"{where}.rules must be a list of tables")
    for index, rule in enumerate(rules):
        for key, values in rule.items():
            if key not in _RULE:
                raise UsageError(f"{where}.rules[{index}].{key} is unknown ({known_names(key, _RULE, 'known')})")
            if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
                raise UsageError(f"{where}.rules[{index}].{key} must be a list of strings")
        if not rule.get("verbs"):
            raise UsageError(f"{where}.rules[{index}].verbs is missing")
        yield dict(rule)
