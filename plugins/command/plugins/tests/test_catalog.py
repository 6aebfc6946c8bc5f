"""The catalog lists what is installed, also what cannot be imported."""

from importlib.metadata import EntryPoint, entry_points

import pytest
from hyperkube_command.plugins.catalog import FAMILIES, HOSTS, PROGRAMS, catalog, entries, row_of

SOUND = """
from hyperkube.hookspecs import hookimpl
from hyperkube.plugin import Plugin


class Sound(Plugin):
    @hookimpl
    def admission_validate(self, request):
        pass
"""


@pytest.fixture
def two_plugins(monkeypatch, tmp_path):
    """Install one sound plugin and one that needs a library that is not there."""
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[hyperkube.admission]\nSound = acme_catalog_sound:Sound\nBroken = acme_catalog_broken:Broken\n"
    )
    (tmp_path / "acme_catalog_sound.py").write_text(SOUND)
    (tmp_path / "acme_catalog_broken.py").write_text("import a_library_that_is_not_there\n")
    monkeypatch.syspath_prepend(str(tmp_path))


def acme(**how):
    return {row.name: row for row in catalog("admission", **how) if row.distribution == "acme"}


def test_a_plugin_is_listed_with_its_hooks(two_plugins):
    row = acme(hooks=True)["Sound"]

    assert (row.version, row.hooks, row.problem) == ("1.0", ("admission_validate",), "")


def test_a_plugin_that_cannot_be_imported_is_listed_with_the_reason(two_plugins):
    row = acme(hooks=True)["Broken"]

    assert row.hooks == ()
    said, _, place = row.problem.partition(" (")
    assert said == "admission 'Broken' of acme: No module named 'a_library_that_is_not_there'"
    assert place.endswith("acme_catalog_broken.py:1)")


def test_without_hooks_nothing_is_imported(two_plugins):
    assert acme()["Broken"].problem == ""


def test_every_family_of_this_project_is_known():
    groups = {group.removeprefix("hyperkube.") for group in entry_points().groups if group.startswith("hyperkube.")}

    assert groups - {"bundle"} <= FAMILIES.keys() | PROGRAMS.keys()


def test_servers_and_subcommands_are_listed_when_their_family_is_named_or_they_are_asked_for():
    assert {family for family, _ in entries()}.isdisjoint(PROGRAMS)
    assert "command" in {family for family, _ in entries(programs=True)}
    assert "plugins" in {row.name for row in catalog("command")}


def test_of_the_servers_those_are_on_that_up_runs():
    def is_on(name):
        return row_of("server", EntryPoint(name, "acme:COMMAND", "hyperkube.server")).enabled

    assert not is_on("kube-acme")
    assert all(map(is_on, HOSTS.values()))
