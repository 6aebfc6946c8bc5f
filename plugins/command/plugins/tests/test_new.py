"""New plugins: their names, and what is refused. That they work is told in tests/integration."""

import tomllib

import pytest
from click.testing import CliRunner
from hyperkube_command.plugins.catalog import FAMILIES
from hyperkube_command.plugins.command import command
from hyperkube_command.plugins.new import families, planned, write

from hyperkube.machinery.errors import UsageError


def test_there_is_a_template_for_every_family():
    assert set(families()) == {*FAMILIES, "command", "server"} - {"cloud_controller"}


@pytest.mark.parametrize("name", ["require-owner", "require_owner", "RequireOwner", "requireOwner"])
def test_all_names_follow_from_one(name):
    plugin = planned("admission", name)

    assert (plugin.distribution, plugin.package, plugin.class_name) == (
        "require-owner",
        "require_owner",
        "RequireOwner",
    )


@pytest.mark.parametrize(
    ("family", "name"),
    [("admission", "RequireOwner"), ("controller", "require-owner"), ("server", "kube-require-owner")],
    ids=["class", "kebab", "server"],
)
def test_the_entry_point_is_named_as_its_family_does(family, name):
    plugin = planned(family, "require-owner")

    project = tomllib.loads(plugin.files()["pyproject.toml"])["project"]

    assert plugin.name == name
    assert list(project["entry-points"][f"hyperkube.{family}"]) == [name]


def test_it_is_written_once(tmp_path):
    write(planned("authz", "office-hours"), tmp_path / "a")

    assert (tmp_path / "a" / "src" / "office_hours" / "flags.toml").is_file()
    with pytest.raises(UsageError, match="exists already: give another --folder"):
        write(planned("authz", "office-hours"), tmp_path / "a")


@pytest.mark.parametrize(
    ("family", "name", "text"),
    [
        ("admision", "a", "unknown family 'admision' .did you mean 'admission'"),
        ("admission", "Été", "cannot be the name of a plugin"),
        ("admission", "../x", "cannot be the name of a plugin"),
    ],
    ids=["family", "letters", "path"],
)
def test_what_cannot_be_is_one_line(family, name, text):
    with pytest.raises(UsageError, match=text):
        planned(family, name)


def test_the_command_says_what_comes_next(tmp_path):
    folder = tmp_path / "x"

    done = CliRunner().invoke(command, ["new", "addon", "hello", "--folder", str(folder)], catch_exceptions=False)

    assert (
        done.output.splitlines()[-1]
        == f"next: pip install -e {folder} && pytest {folder} && hyperkube plugins check hello"
    )
