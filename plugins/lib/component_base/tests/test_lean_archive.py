"""Modules of a start, read from one file."""

import importlib
import os
import sys
from pathlib import Path

import pytest
from hyperkube_lib.component_base.lean_archive import LeanArchive, archive_file
from hyperkube_lib.component_base.lean_archive_writer import archive
from hyperkube_lib.component_base.lean_bytecode import LeanImports, lean_code
from hyperkube_lib.component_base.lean_compiler import write

NAMES = ("hyperkube_archived_one", "hyperkube_archived_two")
SOURCE = '''\
def said(word: str, times: int = 1) -> str:
    """Return the word."""
    return {word: ("said", 1, 1.0, times), "more": (True, False, None, ...)}

class Speaker:
    """Speaks."""
    loudness = frozenset({1, 2**100, -3, 1.5, 1j, b"bytes", "ä", "text of no name"})
    def speak(self): pass
    class Inner: pass
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    hooks, cache = list(sys.path_hooks), dict(sys.path_importer_cache)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for name in NAMES:
        path = tmp_path / f"{name}.py"
        path.write_text(SOURCE)
        assert write(name, str(path))
    (tmp_path / "start.py").touch()
    yield tmp_path
    sys.path_hooks[:] = hooks
    sys.path_importer_cache.clear()
    sys.path_importer_cache.update(cache)
    for name in NAMES:
        sys.modules.pop(name, None)


def paths(folder):
    return [str(folder / f"{name}.py") for name in NAMES]


def written(folder):
    target = Path(archive_file(str(folder / "start.py")))
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(archive(paths(folder)))
    return target


def opened(folder):
    found = LeanArchive(str(folder / "start.py"))
    found.read()
    return found


def started(folder):
    """Load the modules as a start does; return them and what was noted."""
    for name in NAMES:
        sys.modules.pop(name, None)
    imports = LeanImports(str(folder / "start.py"))
    imports.install()
    return [importlib.import_module(name) for name in NAMES], imports


def test_codes_are_those_of_the_modules_own_bytecode(folder):
    written(folder)

    found = opened(folder)

    assert [found.take(path) for path in paths(folder)] == [lean_code(path) for path in paths(folder)]


def test_equal_constants_of_two_modules_are_one_object(folder):
    written(folder)

    one, two = (module.said.__code__ for module in started(folder)[0])

    assert one.co_consts is two.co_consts
    assert one.co_linetable is two.co_linetable
    assert one.co_qualname is two.co_qualname


def test_numbers_that_are_equal_but_not_the_same_stay_two(folder):
    (folder / f"{NAMES[0]}.py").write_text("a = ((1,), 'x')\nb = ((0.0,), 'x')\n")
    (folder / f"{NAMES[1]}.py").write_text("a = ((True,), 'x')\nb = ((-0.0,), 'x')\n")
    for name, path in zip(NAMES, paths(folder), strict=True):
        write(name, path)
    written(folder)

    one, two = started(folder)[0]

    assert (repr(one.a[0]), repr(two.a[0])) == ("(1,)", "(True,)")
    assert (repr(one.b[0]), repr(two.b[0])) == ("(0.0,)", "(-0.0,)")


def test_classes_have_qualified_names_and_functions_their_names_alone(folder):
    written(folder)

    speaker = started(folder)[0][0].Speaker

    assert (speaker.__qualname__, speaker.Inner.__qualname__) == ("Speaker", "Speaker.Inner")
    assert (speaker.speak.__qualname__, speaker.speak.__name__) == ("speak", "speak")


def changed(folder):
    (folder / f"{NAMES[0]}.py").write_text("said = None\n")


def touched(folder):
    os.utime(folder / f"{NAMES[0]}.py", (1_000_000_000, 1_000_000_000))


def removed(folder):
    (folder / f"{NAMES[0]}.py").unlink()


@pytest.mark.parametrize("spoil", [changed, touched, removed])
def test_what_does_not_fit_its_source_is_not_taken(folder, spoil):
    written(folder)
    spoil(folder)
    one, two = paths(folder)

    found = opened(folder)

    assert (found.take(one), found.take(two) is None) == (None, False)


def cut(target):
    target.write_bytes(target.read_bytes()[:100])


def emptied(target):
    target.write_bytes(b"")


def of_another_python(target):
    target.write_bytes(b"\0\0\0\0" + target.read_bytes()[4:])


@pytest.mark.parametrize("spoil", [cut, emptied, of_another_python, Path.unlink])
def test_an_archive_that_cannot_be_read_is_none(folder, spoil):
    spoil(written(folder))

    found = opened(folder)

    assert [found.take(path) for path in paths(folder)] == [None, None]


def test_a_start_without_an_archive_has_a_child_write_it_for_the_next(folder, own_installation):
    modules, imports = started(folder)
    imports.write_missed()
    imports._child.wait(60)

    again, later = started(folder)
    later.write_missed()

    assert later._child is None
    assert [module.said("a") for module in again] == [module.said("a") for module in modules]
    assert again[0].said.__code__.co_consts is again[1].said.__code__.co_consts


def test_an_archive_of_modules_that_a_start_does_not_load_is_written_anew(folder, own_installation):
    written(folder)
    imports = LeanImports(str(folder / "start.py"))
    imports.install()
    importlib.import_module(NAMES[0])

    imports.write_missed()
    imports._child.wait(60)

    assert opened(folder).take(paths(folder)[1]) is None


def test_a_process_without_one_writes_none(folder):
    imports = LeanImports()
    imports.install()
    importlib.import_module(NAMES[0])

    imports.write_missed()

    assert imports._child is None


def test_a_module_has_one_text_for_its_path(folder):
    written(folder)

    (module, _), _ = started(folder)

    assert module.__file__ is module.__spec__.origin is module.__loader__.path is module.said.__code__.co_filename
    assert module.__spec__.cached == importlib.util.cache_from_source(module.__file__)
