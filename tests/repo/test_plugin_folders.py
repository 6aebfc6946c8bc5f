"""Every plugin folder has the shape and the names that the one rule of the house gives it."""

from __future__ import annotations

import ast
import tomllib

import pytest
from source_tree import import_statements, tree_of
from workspace import ROOT, Distribution, distributions

MEMBERS = distributions()
PLUGINS = [member for member in MEMBERS if member.family not in {"core", "bundle"}]
CORE_ROOMS = {"machinery", "kinds", "hookspecs", "plugin", "client", "storage"}
START_FAMILIES = {"host", "command", "lib"}
"""Families that have a command line of their own, and what they share for it: they may import `hyperkube.command`."""
ABOVE_HOSTS = {"command", "testing"}
"""Families that may import hosts, and the testing kits."""
"""What a plugin may import of core; tests may import `hyperkube.testing` too."""
GROUPS = {"host": "server"}
"""Families whose entry points have another name: a host is what the command calls a server."""


def ident(member: Distribution) -> str:
    return str(member.folder.relative_to(ROOT))


@pytest.mark.parametrize("member", PLUGINS, ids=ident)
def test_the_folder_gives_the_names(member):
    kebab = member.snake.replace("_", "-")

    assert member.name == f"hyperkube-{member.family}-{kebab}"
    package = member.source / f"hyperkube_{member.family}"
    assert (package / f"{member.snake}.py").exists() or (package / member.snake / "__init__.py").exists()
    assert not (package / "__init__.py").exists(), "a family's namespace has no __init__.py: it would hide its siblings"


@pytest.mark.parametrize("member", PLUGINS, ids=ident)
def test_it_has_tests(member):
    assert list((member.folder / "tests").glob("test_*.py"))


@pytest.mark.parametrize("member", PLUGINS, ids=ident)
def test_its_project_file_is_small_and_has_no_tool_settings(member):
    text = (member.folder / "pyproject.toml").read_text()
    data = tomllib.loads(text)

    assert len(text.splitlines()) <= 40
    assert set(data.get("tool", {})) <= {"uv"}
    assert data["project"]["license"] == "Apache-2.0"
    assert data["project"]["description"]
    assert data["project"]["version"] == MEMBERS[0].project["version"], "one lockstep version"


@pytest.mark.parametrize("member", PLUGINS, ids=ident)
def test_its_wheel_holds_its_module(member):
    named = tomllib.loads((member.folder / "pyproject.toml").read_text())["tool"]["uv"]["build-backend"]["module-name"]

    # The build backend packs a folder: a plugin of one file names the family's namespace, which holds nothing else.
    assert (member.source / named.replace(".", "/")).is_dir()


SUBSETS = {"controller": ("hyperkube.cloud_controller",)}
"""Groups that list some plugins of a family once more, for a server that runs just these."""


@pytest.mark.parametrize("member", [each for each in PLUGINS if each.family not in {"lib", "testing"}], ids=ident)
def test_its_entry_point_is_in_its_familys_group(member):
    groups = tomllib.loads((member.folder / "pyproject.toml").read_text())["project"].get("entry-points", {})

    if member.family == "api" and not groups:
        return  # groups that only hold types for others to refer to
    group = f"hyperkube.{GROUPS.get(member.family, member.family)}"
    assert next(iter(groups)) == group
    assert set(groups) <= {group, *SUBSETS.get(member.family, ())}
    for value in (value for entries in groups.values() for value in entries.values()):
        assert value.startswith(f"hyperkube_{member.family}.{member.snake}")


@pytest.mark.parametrize("member", PLUGINS, ids=ident)
def test_it_imports_only_what_its_layer_may(member):
    wrong = []
    for path in member.source.rglob("*.py"):
        for node, _ in import_statements(tree_of(path)):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
            wrong += [f"{path.name}:{node.lineno} {name}" for name in modules if name and not allowed(name, member)]

    assert wrong == []


def allowed(name: str, member: Distribution) -> bool:
    """Tell whether a plugin may import a module."""
    top, _, rest = name.partition(".")
    if top == "hyperkube":
        room = rest.split(".")[0]
        return (
            not rest
            or room in CORE_ROOMS
            or (room == "command" and member.family in START_FAMILIES | ABOVE_HOSTS)
            or (room == "testing" and member.family == "testing")
        )
    if not top.startswith("hyperkube_") or top == "hyperkube_lib":
        return True
    if top == "hyperkube_api" and member.family == "api":
        return True
    if top in {"hyperkube_host", "hyperkube_testing"} and member.family in ABOVE_HOSTS:
        return True
    return name.startswith(f"hyperkube_{member.family}.{member.snake}")


def test_the_bundle_depends_on_every_distribution_with_an_exact_pin():
    bundle = next(member for member in MEMBERS if member.family == "bundle")
    wanted = {
        f"{member.name}=={member.project['version']}"
        for member in MEMBERS
        if member.family not in {"bundle", "testing"}
    }

    assert set(bundle.project["dependencies"]) == wanted
