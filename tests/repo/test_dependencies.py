"""What a distribution imports it declares, and it declares nothing else."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import packages_distributions
from typing import Any

import pytest
from source_tree import circles, modules
from workspace import Distribution, distributions

MEMBERS = distributions()
BY_NAME = {member.name: member for member in MEMBERS}
DISTRIBUTIONS_OF = {
    package: {_.lower().replace("_", "-") for _ in found} for package, found in packages_distributions().items()
}
NOT_AT_RUN_TIME = {
    ("hyperkube-core", "numpy"): "for types only: who has arrays has numpy",
    ("hyperkube-core", "pytest"): "the contracts run under pytest, and can be imported without it",
    ("hyperkube-lib-serving", "_typeshed"): "for types only",
}
NEEDED_UNSEEN = {
    (
        "hyperkube-api-apiextensions",
        "hyperkube-api-autoscaling",
    ): "custom resources have a subresource of kind Scale",
    (
        "hyperkube-addon-csi-host-path",
        "hyperkube-csi-host-path",
    ): "its StorageClasses name the driver",
    (
        "hyperkube-addon-local-path-storage-class",
        "hyperkube-volume-local-path",
    ): "its StorageClass names the provisioner",
    ("hyperkube-api-descriptions", "lightkube-models"): "its files are read, not imported",
}


def declared(member: Distribution) -> set[str]:
    """Return the names of the distributions that a member depends on, extras left out."""
    requirements: Iterable[str] = member.project.get("dependencies", [])  # type: ignore[assignment]
    return {re.split(r"[<>=!~\[; ]", each)[0] for each in requirements}


def imported(member: Distribution) -> dict[str, set[str]]:
    """Return what a member's sources import of others: module → the distributions that have it."""
    everything = modules()
    found: dict[str, set[str]] = {}
    for module in everything.values():
        if module.member.name != member.name:
            continue
        for each in module.imports:
            top = each.name.split(".")[0]
            if each.module in everything:
                found[each.name] = {everything[each.module].member.name}
            elif not top.startswith("hyperkube") and top not in sys.stdlib_module_names:
                found[each.name] = DISTRIBUTIONS_OF.get(top, {top})
    return {name: owners for name, owners in found.items() if member.name not in owners}


def named(member: Distribution) -> set[str]:
    """Return the distributions whose schemas a member names as text (``hyperkube_api.core.v1:Pod``).

    They are imported when they are first needed, and may be missing where the resource is not served.
    """
    everything = modules()
    return {
        everything[name].member.name
        for module in everything.values()
        if module.member.name == member.name
        for name in re.findall(r"[\"'`](hyperkube_\w+(?:\.\w+)+):\w+", module.path.read_text())
        if name in everything
    }


CHECKED = [pytest.param(member, id=member.name) for member in MEMBERS if member.family != "bundle"]


@pytest.mark.parametrize("member", CHECKED)
def test_it_declares_what_it_imports(member):
    missing = {
        name
        for name, owners in imported(member).items()
        if not owners & declared(member) and (member.name, name.split(".")[0]) not in NOT_AT_RUN_TIME
    }

    assert missing == set()


@pytest.mark.parametrize("member", CHECKED)
def test_it_declares_nothing_that_it_does_not_import(member):
    owners = {owner for each in imported(member).values() for owner in each} | named(member)
    extra = {name for name in declared(member) - owners if (member.name, name) not in NEEDED_UNSEEN}

    assert extra - {"hyperkube-core"} == set()


def test_no_distributions_need_each_other():
    assert circles({name: declared(member) & set(BY_NAME) for name, member in BY_NAME.items()}) == []


def _named_in_the_bundle(table: Mapping[str, Any]) -> Iterable[tuple[str, Iterable[str]]]:
    yield from (
        (key, table[key])
        for key in ("order", "enabled", "enabled_by_script", "enabled_with_containers", "legacy")
        if key in table
    )
    yield "default", [table["default"]] if "default" in table else []
    yield "acting_on", table.get("acting_on", {}).values()


def test_the_bundle_orders_and_enables_only_plugins_that_there_are():
    (bundle,) = [member for member in MEMBERS if member.family == "bundle"]
    (path,) = bundle.folder.rglob("plugins.toml")
    installed: dict[str, set[str]] = {}
    for member in MEMBERS:
        for group, entries in member.project.get("entry-points", {}).items():  # type: ignore[attr-defined]
            installed.setdefault(group.removeprefix("hyperkube."), set()).update(entries)

    wrong = {
        f"{family}.{key}: {name}"
        for family, table in tomllib.loads(path.read_text()).items()
        for key, names in _named_in_the_bundle(table)
        for name in names
        if name not in installed[family]
    }

    assert wrong == set()
