"""Data beside plugins is found without importing anything."""

import os
import sys
import tomllib
from importlib.metadata import EntryPoint

import pytest

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.data_files import data_file, read_data

BOMB = "raise AssertionError('a plugin was imported')\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Two folders of the import path; writes files below them."""
    for folder in ("one", "two"):
        monkeypatch.syspath_prepend(str(tmp_path / folder))

    def write(path, text=""):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return write


def entry(module):
    return EntryPoint("tidy", f"{module}:Tidy", "hyperkube.controller")


@pytest.mark.parametrize(
    ("module", "files", "data"),
    [
        ("acme_data.tidy", ["one/acme_data/other.py", "two/acme_data/tidy.py"], "two/acme_data/tidy.facts.toml"),
        ("acme_data.tidy", ["two/acme_data/tidy/__init__.py"], "two/acme_data/tidy/facts.toml"),
        ("acme_data.tidy.main", ["one/acme_data/tidy/__init__.py"], "one/acme_data/tidy/facts.toml"),
        ("acme_tidy", ["one/acme_tidy.py"], "one/acme_tidy.facts.toml"),
        ("acme_tidy", ["one/acme_tidy/__init__.py"], "one/acme_tidy/facts.toml"),
    ],
    ids=["module in a namespace", "package in a namespace", "class in a module of a package", "module", "package"],
)
def test_the_file_beside_a_plugin_is_found_and_nothing_imported(place, module, files, data):
    for file in files:
        place(file, BOMB)
    path = place(data, "[tidy]\nname = 'tidy-controller'\n")

    assert data_file(entry(module), "facts") == path
    assert read_data(entry(module), "facts") == {"tidy": {"name": "tidy-controller"}}
    assert module not in sys.modules


@pytest.mark.parametrize("module", ["acme_bare.tidy", "acme_missing.tidy"])
def test_a_plugin_without_the_file_has_no_data(place, module):
    place("one/acme_bare/tidy.py", BOMB)

    assert data_file(entry(module), "facts") is None
    assert read_data(entry(module), "facts") == {}


def test_a_file_is_parsed_again_once_it_changed(place, monkeypatch):
    parsed = []
    parse = tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: parsed.append(text) or parse(text))
    place("one/acme_twice/tidy.py", BOMB)
    path = place("one/acme_twice/tidy.facts.toml", "[tidy]\n")

    first, again = (read_data(entry("acme_twice.tidy"), "facts") for _ in range(2))
    path.write_text("[tidy]\nname = 'new'\n")
    os.utime(path, (1, 1))
    changed = read_data(entry("acme_twice.tidy"), "facts")

    assert (first, again, changed) == ({"tidy": {}}, {"tidy": {}}, {"tidy": {"name": "new"}})
    assert len(parsed) == 2


def test_a_file_that_is_not_toml_is_named_in_one_line(place):
    place("one/acme_bad/tidy.py", BOMB)
    path = place("one/acme_bad/tidy.facts.toml", "name =\n")

    with pytest.raises(UsageError, match=r"^\S+tidy\.facts\.toml: Invalid value \(at line 1, column 7\)$") as caught:
        read_data(entry("acme_bad.tidy"), "facts")
    assert str(path) in str(caught.value)
