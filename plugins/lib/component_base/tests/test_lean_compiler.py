"""What lean bytecode leaves out, and what it keeps."""

import subprocess
import sys

import pytest
from hyperkube_lib.component_base.lean_bytecode import lean_code
from hyperkube_lib.component_base.lean_compiler import below, lean, write


def ran(source, name="hyperkube_sample"):
    code, documented = lean(source.encode(), name, "sample.py")
    found = {"__name__": name}
    exec(code, found)
    return found, documented


def test_a_body_that_is_a_docstring_alone_does_nothing():
    found, _ = ran('def f():\n    """Says."""\n')

    assert (found["f"](), found["f"].__doc__) == (None, None)


def test_a_text_behind_a_docstring_does_not_become_one():
    found, _ = ran('def f():\n    """Says."""\n    "more"\n    return 1\n')

    assert (found["f"](), found["f"].__doc__) == (1, None)


def test_fields_keep_their_annotations():
    found, _ = ran("import typing\nclass Pair(typing.NamedTuple):\n    a: int\n    b: str = ''\n")

    assert list(found["Pair"].__annotations__) == ["a", "b"]


@pytest.mark.parametrize(
    ("decorator", "kept"),
    [("staticmethod", False), ("functools.lru_cache(2)", False), ("functools.singledispatch", True)],
)
def test_annotations_stay_where_a_decorator_may_read_them(decorator, kept):
    found, _ = ran(f"import functools\n@{decorator}\ndef f(a: int, *b: int, c: int = 1, **d: int) -> int:\n    pass\n")

    assert bool(found["f"].__annotations__) is kept


def test_what_a_module_assigns_has_no_annotations():
    found, _ = ran("a: int = 1\nb: int\nc: list[int]\n")

    assert found["a"] == 1
    assert found.keys().isdisjoint({"b", "c", "__annotations__"})


def test_annotations_of_others_stay():
    found, _ = ran("def f(a: int):\n    pass\n", name="acme")

    assert found["f"].__annotations__ == {"a": int}


def test_dataclasses_of_others_keep_their_docstrings_which_would_be_made_up_else():
    source = 'from dataclasses import dataclass\n@dataclass\nclass A:\n    """Is one."""\n    a: int\n'

    assert ran(source, name="acme")[0]["A"].__doc__ == "Is one."


def test_classes_are_documented_by_their_qualified_names():
    _, documented = ran(
        'class A:\n    """One."""\n    class B:\n        """Two."""\n'
        'def f():\n    class C:\n        """Three."""\nif True:\n    class D:\n        """Four."""\n'
    )

    assert documented == {"A": "One.", "A.B": "Two.", "f.<locals>.C": "Three.", "D": "Four."}


@pytest.mark.parametrize("name", ["pycparser.c_parser", "numpy.ma.core", "somebodys"])
def test_libraries_that_may_read_their_docstrings_are_left_alone(tmp_path, name):
    path = tmp_path / "module.py"
    path.write_text("")

    assert not write(name, str(path))
    assert write("hyperkube_host.module", str(path))


@pytest.mark.parametrize("content", [b"def f(:\n", b"\0", b"\xff\n"], ids=["no Python", "a null", "no text"])
def test_what_cannot_be_compiled_is_left_to_python(tmp_path, content):
    path = tmp_path / "broken.py"
    path.write_bytes(content)

    assert not write("hyperkube_broken", str(path))
    assert not write("hyperkube_broken", str(tmp_path / "none.py"))


def test_modules_of_a_folder_are_named_as_they_are_imported(tmp_path):
    for file in ("space/one.py", "space/pack/__init__.py", "space/pack/two.py", "top.py", "space/data.toml"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()

    assert {name for name, _ in below(tmp_path)} == {"space.one", "space.pack", "space.pack.two", "top"}


def test_all_below_a_folder_and_all_that_a_module_loads_is_written(tmp_path):
    one, two, three = names = ("hyperkube_one", "hyperkube_two", "hyperkube_three")
    for name, text in zip(names, (f"import {two}\n", "a = 1\n", "b = 1\n"), strict=True):
        (tmp_path / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "hyperkube_lib.component_base.lean_compiler"]
    written = lambda: {name for name in names if lean_code(str(tmp_path / f"{name}.py"))}  # noqa: E731

    subprocess.run([*command, one], check=True, cwd=tmp_path)
    by_module = written()
    subprocess.run([*command, str(tmp_path)], check=True)

    assert by_module == {one, two}
    assert written() == {one, two, three}
