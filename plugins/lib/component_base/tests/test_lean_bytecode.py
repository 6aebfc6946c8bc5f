"""Modules loaded from bytecode without what only readers need."""

import fcntl
import importlib
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hyperkube_lib.component_base.lean_bytecode import LeanImports, documentation, lean_code, lean_file
from hyperkube_lib.component_base.lean_compiler import write

SOURCE = '''\
"""A module."""

class Speaker:
    """Says what it was told.

    More of it.
    """

    class Inner:
        """Is inside."""

class Silent(Speaker):
    pass

class Mute:
    pass

def said(word: str) -> str:
    """Return the word."""
    assert word
    return word
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    hooks, cache, modules = list(sys.path_hooks), dict(sys.path_importer_cache), set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.path_hooks[:] = hooks
    sys.path_importer_cache.clear()
    sys.path_importer_cache.update(cache)
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def module(folder, name="hyperkube_lean_sample", source=SOURCE):
    path = folder / f"{name}.py"
    path.write_text(source)
    return name, str(path)


def imported(name):
    imports = LeanImports()
    imports.install()
    return importlib.import_module(name), imports


def test_what_has_lean_bytecode_is_loaded_without_docstrings_and_annotations(folder):
    name, path = module(folder)
    assert write(name, path)

    found, imports = imported(name)

    assert (found.__doc__, found.Speaker.__doc__, found.said.__doc__) == (None, None, None)
    assert found.said.__annotations__ == {}
    assert found.said("a") == "a"
    assert imports.missed == {}


def test_libraries_are_loaded_as_ever_and_not_missed(folder):
    name, path = module(folder, "library_with_docstrings")
    (folder / "copied.py").write_text(SOURCE)
    assert write("hyperkube_copied", str(folder / "copied.py"))
    Path(lean_file(path)).write_bytes(Path(lean_file(str(folder / "copied.py"))).read_bytes())

    found, imports = imported(name)

    assert found.__doc__ == "A module."
    assert imports.missed == {}


def test_assertions_stay(folder):
    name, path = module(folder)
    write(name, path)

    found, _ = imported(name)

    with pytest.raises(AssertionError):
        found.said("")


def test_what_a_class_says_of_itself_is_read_when_asked_for(folder):
    name, path = module(folder)
    write(name, path)

    found, _ = imported(name)

    assert documentation(found.Speaker) == "Says what it was told.\n\nMore of it."
    assert documentation(found.Speaker.Inner) == "Is inside."
    assert documentation(found.Silent) == documentation(found.Speaker)
    assert documentation(found.Mute) == ""


def test_docstrings_that_were_loaded_are_told_as_they_are(folder):
    name, _ = module(folder)

    found, _ = imported(name)

    assert documentation(found.Speaker) == "Says what it was told.\n\nMore of it."


def test_what_has_none_is_loaded_as_ever_and_noted(folder):
    name, path = module(folder)

    found, imports = imported(name)

    assert found.__doc__ == "A module."
    assert imports.missed == {path: name}


def changed(path):
    Path(path).write_text(SOURCE.replace("Speaker", "Talker"))


def touched(path):
    os.utime(path, (1_000_000_000, 1_000_000_000))


def cut(path):
    Path(lean_file(path)).write_bytes(Path(lean_file(path)).read_bytes()[:100])


def emptied(path):
    Path(lean_file(path)).write_bytes(b"")


def moved(path):
    Path(lean_file(path)).write_bytes(Path(lean_file(path)).read_bytes().replace(path.encode(), path[::-1].encode()))


@pytest.mark.parametrize("spoil", [changed, touched, cut, emptied, moved])
def test_bytecode_that_does_not_fit_is_not_used_and_is_written_anew(folder, spoil):
    name, path = module(folder)
    write(name, path)
    spoil(path)

    assert lean_code(path) is None
    assert write(name, path)
    assert lean_code(path) is not None


def test_a_child_writes_what_was_missed_for_the_next_start(folder, monkeypatch, own_installation):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    name, path = module(folder)
    _, imports = imported(name)

    imports.write_missed()
    imports._child.wait(60)

    assert lean_code(path) is not None
    assert imports.missed == {}


@pytest.mark.parametrize("many", [1, 20_000])
def test_what_is_missed_is_left_to_another_who_writes_already(folder, monkeypatch, many):
    """The child ends without a look at its input, which may be more than a pipe holds."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    name, path = module(folder)
    _, imports = imported(name)
    imports.missed |= {str(folder / f"{number}.py"): f"other{number}" for number in range(many)}
    other = os.open(sys.prefix, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)

    imports.write_missed()

    assert imports._child.wait(60) == 0
    os.close(other)
    assert lean_code(path) is None


def test_a_child_that_cannot_be_started_is_done_without(folder, monkeypatch):
    def full(*_, **__):
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(subprocess, "Popen", full)
    name, _ = module(folder)
    _, imports = imported(name)

    imports.write_missed()

    assert imports._child is None


def test_nothing_is_written_where_python_may_not(folder, monkeypatch):
    name, _ = module(folder)
    _, imports = imported(name)

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    imports.write_missed()

    assert imports._child is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_starts_no_child(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    name, _ = module(folder)
    folder.chmod(0o500)
    _, imports = imported(name)

    imports.write_missed()
    folder.chmod(0o700)

    assert imports._child is None


def test_packages_namespaces_and_extensions_are_found_as_before():
    program = (
        "from hyperkube_lib.component_base.lean_bytecode import LeanImports\n"
        "LeanImports().install()\n"
        "import email.message, orjson, hyperkube_lib.component_base.oom, sqlite3\n"
        "print('fine')"
    )

    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "fine\n"


NUMPY = """
import importlib, sys
from hyperkube_lib.component_base.lean_bytecode import LeanImports
from hyperkube_lib.component_base.lean_compiler import wanted, write
if sys.argv[1] == "write":
    print(sum(write(name, path) for name, path in wanted(["numpy.linalg"]) if name.startswith("numpy.")))
else:
    LeanImports().install()
    import numpy as np
    for part in ("ma", "linalg", "fft", "random", "polynomial", "ctypeslib", "testing", "rec", "char", "strings", "typing"):
        importlib.import_module(f"numpy.{part}")
    print(np.mean.__doc__, np.linalg.det.__doc__, np.ndarray.sum.__doc__, end=" ")
    print(bool(np.ones.__doc__), bool(np.apply_over_axes.__doc__), bool(np.ma.__doc__))
    print(np.ma.array([1, 2, 3], mask=[0, 1, 0]).sum(), np.ma.arange(3).sum(), np.mean([1, 3]), np.linalg.det(np.eye(2)))
"""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("numpy") is None, reason="needs numpy, which comes with the scheduler")
def test_numpy_can_do_all_it_does_without_most_of_its_docstrings(tmp_path):
    def said(word):
        command = [sys.executable, "-c", NUMPY, word]
        return subprocess.check_output(command, text=True, env=os.environ | {"PYTHONPYCACHEPREFIX": str(tmp_path)})

    assert int(said("write")) > 20
    assert said("read").splitlines() == ["None None None True True True", "4 3 2.0 1.0"]
