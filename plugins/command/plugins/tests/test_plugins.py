"""The list of plugins says what is installed, by whom, whether it is on, and which hooks it has."""

import orjson
from click.testing import CliRunner
from hyperkube_command.plugins.catalog import InstalledPlugin
from hyperkube_command.plugins.command import command


def offered(monkeypatch, rows):
    monkeypatch.setattr("hyperkube_command.plugins.command.catalog", lambda family, *, hooks: rows)


ROW = InstalledPlugin("admission", "AlwaysDeny", "hyperkube-admission-always-deny", "1", False, ("a_b",))


def test_the_table_has_a_line_per_plugin(monkeypatch):
    offered(monkeypatch, [ROW])

    lines = CliRunner().invoke(command, ["list"]).output.splitlines()

    assert lines[0].split() == ["FAMILY", "NAME", "DISTRIBUTION", "VERSION", "ENABLED", "HOOKS"]
    assert lines[1].split() == ["admission", "AlwaysDeny", "hyperkube-admission-always-deny", "1", "no", "a_b"]


def test_hooks_can_be_left_out(monkeypatch):
    offered(monkeypatch, [ROW])

    assert "HOOKS" not in CliRunner().invoke(command, ["list", "--no-hooks"]).output


def test_json_is_for_programs(monkeypatch):
    offered(monkeypatch, [ROW])

    (row,) = orjson.loads(CliRunner().invoke(command, ["list", "-o", "json"]).output)

    assert row["name"] == "AlwaysDeny"
    assert row["enabled"] is False


def test_a_plugin_that_cannot_be_loaded_is_a_line_like_the_others(monkeypatch):
    broken = InstalledPlugin("authn", "Acme", "acme", "1", False, problem="no module named 'x'")
    offered(monkeypatch, [broken, ROW])

    lines = CliRunner().invoke(command, ["list"]).output.splitlines()

    assert lines[1].endswith("(cannot be loaded: no module named 'x')")
    assert lines[2].endswith("a_b")
