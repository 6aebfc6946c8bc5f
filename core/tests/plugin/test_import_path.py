"""Plugins are imported from where the import path has them, as the import system itself would."""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import PathFinder

import pytest

from hyperkube.plugin.import_path import ImportPath, listed_imports

FAMILY = "hyperkube_listed"


@pytest.fixture
def parts(monkeypatch, tmp_path):
    """Put a family of two plugins on the path, each in a folder of its own; the second folder has the first one too."""
    for folder, names in (("one", ("tidy",)), ("two", ("tidy", "wild"))):
        part = tmp_path / folder / FAMILY
        part.mkdir(parents=True)
        for name in names:
            (part / f"{name}.py").write_text(f"WHERE = {folder!r}\n")
        monkeypatch.syspath_prepend(str(tmp_path / folder))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "one"), str(tmp_path / "two"), *sys.path[2:]])
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith(FAMILY)]:
        del sys.modules[name]


def imported(name):
    return importlib.import_module(f"{FAMILY}.{name}")


def test_each_module_comes_from_the_first_folder_that_has_it(parts):
    with listed_imports():
        assert imported("tidy").WHERE == "one"
        assert imported("wild").WHERE == "two"


def test_the_search_of_the_import_system_is_spared(parts, monkeypatch):
    looked: list[tuple[str, object]] = []
    search = PathFinder.find_spec
    monkeypatch.setattr(
        PathFinder, "find_spec", lambda name, path=None, target=None: looked.append((name, path)) or search(name, path)
    )

    with listed_imports():
        imported("wild")

    assert looked == [(FAMILY, [str(parts / "one"), str(parts / "two")])]


def test_packages_and_their_modules_are_what_the_import_system_would_make_of_them(parts):
    package = parts / "one" / FAMILY / "boxed"
    (package / "inner").mkdir(parents=True)
    for file in ("__init__.py", "deep.py", "inner/__init__.py"):
        (package / file).write_text("")
    (parts / "one" / FAMILY / "boxed.py").write_text("raise AssertionError('a package comes first')\n")

    def facts():
        found = [imported(name).__spec__ for name in ("boxed", "boxed.deep", "boxed.inner")]
        for name in [name for name in sys.modules if name.startswith(FAMILY)]:
            del sys.modules[name]
        importlib.invalidate_caches()
        return [(spec.name, spec.origin, spec.cached, spec.submodule_search_locations) for spec in found]

    theirs = facts()
    with listed_imports():
        assert facts() == theirs


def test_what_came_later_is_found_too(parts):
    with listed_imports():
        imported("tidy")
        (parts / "two" / FAMILY / "late.py").write_text("WHERE = 'late'\n")
        importlib.invalidate_caches()

        assert imported("late").WHERE == "late"


def test_a_module_that_is_nowhere_is_missing(parts):
    with listed_imports(), pytest.raises(ModuleNotFoundError, match=f"No module named '{FAMILY}.nosuch'"):
        imported("nosuch")


def test_after_the_context_the_finders_are_what_they_were():
    before = list(sys.meta_path)

    with listed_imports():
        assert len(sys.meta_path) == len(before) + 1

    assert sys.meta_path == before


def test_a_module_that_is_one_file_counts_as_well(tmp_path):
    (tmp_path / f"{FAMILY}.py").touch()

    assert ImportPath([str(tmp_path / "none"), str(tmp_path)]).folders_with(FAMILY) == [str(tmp_path)]
