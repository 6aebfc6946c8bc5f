"""What distributions offer is what `importlib.metadata` says of them."""

from __future__ import annotations

import sys
import zipfile
from importlib.metadata import distributions

import pytest

from hyperkube.plugin.entry_points import offers

TEXT = """\
[console_scripts]
acme = acme:main

[acme.box]
# the best ones
red = acme.red:Red
blue=acme.blue:Blue [paint]

[acme.lid]
round = acme.lids
"""


@pytest.fixture
def put(tmp_path):
    """Return a function that puts a distribution into a folder of that name and returns the folder."""

    def put(folder, name, text, suffix="dist-info", metadata="METADATA"):
        info = tmp_path / folder / f"{name}-1.0.{suffix}"
        info.mkdir(parents=True)
        (info / metadata).write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(text)
        return str(tmp_path / folder)

    return put


def told(found, group):
    entries = [entry for distribution in found[group] for entry in distribution().entry_points if entry.group == group]
    return [(entry.group, entry.name, entry.value, entry.dist.name) for entry in entries]


@pytest.mark.parametrize(("suffix", "metadata"), [("dist-info", "METADATA"), ("egg-info", "PKG-INFO")])
def test_groups_with_the_prefix_are_read(put, suffix, metadata):
    found = offers([put("site", "acme", TEXT, suffix, metadata)], "acme.")

    assert list(found) == ["acme.box", "acme.lid"]
    assert told(found, "acme.box") == [
        ("acme.box", "red", "acme.red:Red", "acme"),
        ("acme.box", "blue", "acme.blue:Blue [paint]", "acme"),
    ]


def test_the_first_distribution_of_a_name_hides_the_others_whatever_it_offers(put):
    first = put("first", "Acme.Box", "[console_scripts]\nacme = acme:main\n")
    second = put("second", "acme_box", TEXT)

    assert offers([first, second], "acme.") == {}


def test_archives_of_the_path_are_read_too(put, tmp_path):
    put("site", "acme", TEXT)
    with zipfile.ZipFile(tmp_path / "site.zip", "w") as archive:
        for file in (tmp_path / "site").rglob("*"):
            archive.write(file, file.relative_to(tmp_path / "site"))

    found = offers([str(tmp_path / "site.zip"), str(tmp_path / "nosuch")], "acme.")

    assert [name for _, name, _, _ in told(found, "acme.lid")] == ["round"]


def test_it_finds_what_the_standard_library_finds():
    theirs = {
        (entry.group, entry.name, entry.value, distribution.name)
        for distribution in distributions()
        for entry in distribution.entry_points
        if entry.group.startswith("hyperkube.")
    }
    ours = offers(sys.path, "hyperkube.")

    assert {row for group in ours for row in told(ours, group)} == theirs
