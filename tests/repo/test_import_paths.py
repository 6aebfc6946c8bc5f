"""The finder of the workspace's modules: it finds what the folders on the import path would, and lets others go first."""

from __future__ import annotations

import subprocess
import sys

import pytest
from import_paths import AFTER_ALL_OTHERS, places, write
from workspace import distributions
from workspace_finder import WorkspaceFinder

SCRIPT = """
import importlib.util, sys
for name in sys.argv[1:]:
    print(importlib.util.find_spec(name).origin)
print(len(sys.path))
"""


@pytest.fixture
def tree(tmp_path):
    """Return two sources of one family, each with a module or a package, and the top package of a third."""
    files = {
        "core/src/acme/__init__.py": "",
        "core/src/acme/tools.py": "",
        "one/src/acme_box/red.py": "colour = 'red'",
        "two/src/acme_box/blue/__init__.py": "from acme_box import red",
        "two/src/acme_box/blue/shades.py": "",
        "two/src/acme_box/blue/data/words.txt": "",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.fixture
def finder(tree, monkeypatch):
    """Install a finder of the tree for the length of a test."""
    found = WorkspaceFinder(*places([tree / name / "src" for name in ("core", "one", "two")]))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, found])
    yield found
    for name in [name for name in sys.modules if name.partition(".")[0] in {"acme", "acme_box"}]:
        del sys.modules[name]


def imported(name):
    __import__(name)
    return sys.modules[name]


def test_modules_and_packages_are_found_in_their_folders(finder, tree):
    assert imported("acme.tools").__file__ == str(tree / "core/src/acme/tools.py")
    assert imported("acme_box.blue.shades").__file__ == str(tree / "two/src/acme_box/blue/shades.py")
    assert imported("acme_box.blue").red.colour == "red"


def test_a_namespace_has_the_portions_of_all(finder, tree):
    portions = list(imported("acme_box").__path__)

    assert portions == [str(tree / "one/src/acme_box"), str(tree / "two/src/acme_box")]


def test_a_module_that_was_added_since_is_found(finder, tree):
    (tree / "two/src/acme_box/grey.py").write_text("")

    assert imported("acme_box.grey").__file__ == str(tree / "two/src/acme_box/grey.py")


def test_what_is_not_there_is_missing_by_its_name(finder):
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'acme_box\.green'"):
        imported("acme_box.green")


@pytest.mark.parametrize("seen", ["before", "after"])
def test_another_distribution_adds_to_a_namespace(finder, tmp_path, monkeypatch, seen):
    (tmp_path / "third/acme_box").mkdir(parents=True)
    (tmp_path / "third/acme_box/green.py").write_text("")
    if seen == "after":
        imported("acme_box.red")
    monkeypatch.syspath_prepend(str(tmp_path / "third"))

    assert imported("acme_box.green").__file__ == str(tmp_path / "third/acme_box/green.py")
    assert imported("acme_box.red").colour == "red"


def test_what_the_import_path_has_comes_first(finder, tmp_path, monkeypatch):
    (tmp_path / "nearer/acme").mkdir(parents=True)
    (tmp_path / "nearer/acme/__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path / "nearer"))

    assert imported("acme").__file__ == str(tmp_path / "nearer/acme/__init__.py")


def test_it_is_written_beside_the_files_of_paths_and_takes_their_place(tmp_path):
    sources = [member.source for member in distributions()]
    for number, source in enumerate(sources):
        (tmp_path / f"a{number}.pth").write_text(f"{source}\n")
    write(tmp_path)
    start = f"import site; site.addsitedir({str(tmp_path)!r}); site.addsitedir({str(tmp_path)!r})\n"

    words = [sys.executable, "-I", "-S", "-c", start + SCRIPT, "hyperkube", "hyperkube_admission.limit_ranger"]
    *files, length = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()

    root = sources[0].parents[1]
    places_ = ["core/src/hyperkube/__init__.py", "admission/limit_ranger/src/hyperkube_admission/limit_ranger.py"]
    assert files == [str(root / place) for place in places_]
    assert int(length) < 10
    assert max(path.name for path in tmp_path.glob("*.pth")) == AFTER_ALL_OTHERS
