"""Every API plugin declares what Kubernetes 1.36 serves by default."""

import json
import subprocess
import sys
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from hyperkube_api.meta.specs import OnFirstUse, Version, fields

from hyperkube.hookspecs.api import ResourceSpec
from hyperkube.machinery.schema import resolve
from hyperkube.plugin import PluginContext

FACTS = Path(__file__).parents[5] / "shared" / "spec" / "resources.json"
V1 = Version("example.com", "v1", "example")


def declared() -> dict[tuple[str, str, str], ResourceSpec]:
    found = {}
    for entry in entry_points(group="hyperkube.api"):
        module, _, name = entry.value.partition(":")
        plugin = getattr(import_module(module), name)(PluginContext(name=entry.name))
        for version in plugin.api_group_versions() if hasattr(plugin, "api_group_versions") else ():
            for spec in version.resources:
                found[version.group, version.version, spec.resource.resource] = spec
    return found


@pytest.fixture(scope="module")
def specs():
    pytest.importorskip("hyperkube_api.core", reason="compares all groups, which are not installed here")
    return declared()


@pytest.fixture(scope="module")
def facts():
    if not FACTS.exists():
        pytest.skip("the facts are not beside this tree")
    rows = json.loads(FACTS.read_text())["resources"]
    return [row for row in rows if row["servedByDefault"]]


def key(row):
    return ("" if row["group"] == "core" else row["group"], row["version"], row["resource"])


def test_each_resource_served_by_default_is_declared(specs, facts):
    assert {key(row) for row in facts} <= set(specs)


def test_names_verbs_and_columns_are_kubernetes_own(specs, facts):
    for row in facts:
        spec = specs[key(row)]
        assert spec.kind.kind == row["kind"]
        assert spec.singular == row["singular"]
        assert spec.namespaced == (row["scope"] == "Namespaced")
        assert sorted(spec.verbs) == sorted(row["verbs"])
        assert list(spec.short_names) == row.get("shortNames", [])
        assert list(spec.categories) == row.get("categories", [])
        assert spec.storage_version_hash == row.get("storageVersionHash", "")
        shown = [[column.name, column.type, column.format, column.priority] for column in spec.columns]
        assert shown == (row.get("tableColumns") or []), row["resource"]


def test_subresources_and_selectors_are_kubernetes_own(specs, facts):
    for row in facts:
        spec = specs[key(row)]
        wanted = {sub["name"]: sorted(sub["verbs"]) for sub in row.get("subresources", [])}
        assert {sub.name: sorted(sub.verbs) for sub in spec.subresources} == wanted
        built_in = {"metadata.name", "metadata.namespace"}
        assert set(spec.fields) == set(row.get("fieldSelectors") or []) - built_in, row["resource"]


def test_strategies_keep_the_flags(specs, facts):
    for row in facts:
        flags, strategy = row.get("strategy") or {}, specs[key(row)].strategy
        if not flags:
            continue
        assert strategy.allow_create_on_update == flags["allowCreateOnUpdate"], row["resource"]
        assert strategy.allow_unconditional_update == flags["allowUnconditionalUpdate"], row["resource"]
        assert strategy.default_gc == flags.get("defaultGC", "Delete"), row["resource"]
        wanted = {part: tuple(paths) for part, paths in flags.get("resetFields", {}).items()}
        assert {part: tuple(paths) for part, paths in strategy.reset_fields.items()} == wanted, row["resource"]


def test_each_schema_can_be_found(specs):
    for spec in specs.values():
        assert resolve(spec.schema) is not None
        for sub in spec.subresources:
            if sub.schema:
                assert resolve(sub.schema) is not None


AGED = frozenset({"ipaddresses"})
"""Resources whose rows have an age for which Kubernetes declares no column."""


def test_each_row_has_a_cell_for_each_column(specs):
    from datetime import UTC, datetime

    from hyperkube.machinery.schema import compile_schema

    for spec in specs.values():
        if spec.cells is None:
            continue
        empty, _ = compile_schema(spec.schema).decode({"metadata": {"name": "x"}})
        wanted = len(spec.columns) + (spec.resource.resource in AGED)
        assert len(spec.cells(empty, datetime.now(UTC))) == wanted, spec.resource


def test_each_function_that_is_named_can_be_found(specs):
    found = [
        value
        for spec in specs.values()
        for part in (spec, *spec.subresources)
        for value in (getattr(part, name) for name in type(part).__slots__)
        if isinstance(value, OnFirstUse)
    ]

    found += [
        value
        for name, module in tuple(sys.modules.items())
        if name.startswith("hyperkube_api.")
        for value in tuple(vars(module).values())
        if isinstance(value, OnFirstUse)
    ]

    assert found
    assert all(callable(value.function()) for value in found)


def test_a_function_is_imported_with_its_first_call(monkeypatch):
    imported = []
    monkeypatch.setattr("hyperkube_api.meta.specs.import_module", lambda name: imported.append(name) or json)
    loads = OnFirstUse("json:loads")

    assert imported == []
    assert [loads("[1]"), loads.call("2", parse_int=float)] == [[1], 2.0]
    assert imported == ["json"]
    assert loads.call is json.loads


def test_declaring_resources_imports_no_table_and_nothing_that_comes_with_its_first_use():
    pytest.importorskip("hyperkube_api.core", reason="declares all groups, which are not installed here")
    code = (
        "from importlib.metadata import entry_points; import sys\n"
        "from hyperkube.plugin import PluginContext\n"
        "plugins = [entry.load()(PluginContext(name='x')) for entry in entry_points(group='hyperkube.api')]\n"
        "[list(plugin.api_group_versions()) for plugin in plugins if hasattr(plugin, 'api_group_versions')]\n"
        "print([name for name in sys.modules if name.endswith('.table')])\n"
        "from hyperkube_api.meta.specs import OnFirstUse\n"
        "mine = [vars(module) for name, module in tuple(sys.modules.items()) if name.startswith('hyperkube_api.')]\n"
        "later = {value.path for names in mine for value in names.values() if isinstance(value, OnFirstUse)}\n"
        "assert later\n"
        "print(sorted(path for path in later if path.partition(':')[0] in sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout == b"[]\n[]\n"


def test_declaring_resources_imports_no_schema():
    pytest.importorskip("hyperkube_api.core", reason="declares all groups, which are not installed here")
    code = (
        "from importlib.metadata import entry_points; import sys\n"
        "[entry.load() for entry in entry_points(group='hyperkube.api')]\n"
        "assert 'marshmallow' not in sys.modules"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_stored_resource_is_stored_in_its_own_version():
    assert V1.resource("things", "Thing", storage_prefix="things").storage_kind == V1.kind("Thing")
    assert V1.resource("reviews", "Review").storage_kind is None


def test_a_version_may_be_stored_as_another_with_the_same_members():
    older = Version("example.com", "v1alpha1", "hyperkube_api.example.v1alpha1")

    spec = older.resource("things", "Thing", storage_prefix="things", **older.stored_as(V1, "Thing"))

    written = spec.to_storage({"apiVersion": older.kind("Thing").api_version, "spec": 1})
    assert written == {"apiVersion": V1.kind("Thing").api_version, "spec": 1}
    assert spec.from_storage(written)["apiVersion"] == "example.com/v1alpha1"
    assert "to_storage" not in V1.stored_as(V1, "Thing")


def test_an_absent_flag_counts_as_false():
    assert fields(flags=("spec.unschedulable",))["spec.unschedulable"]({}) == "false"
