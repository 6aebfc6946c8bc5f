"""Writes lean bytecode (see `lean_bytecode`) of the modules whose names and paths are on standard input, tab between.

With folders or modules as arguments it writes all that is below them, or all that importing them loads:
``./dev setup`` does so. Run it with ``-X no_debug_ranges``, and the code has no columns, which only tracebacks show.
"""

from __future__ import annotations

import ast
import fcntl
import importlib
import marshal
import os
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

from hyperkube_lib.component_base.lean_archive import header
from hyperkube_lib.component_base.lean_bytecode import OURS, lean_code, lean_file, may_be_lean

_READ_NO_ANNOTATIONS = frozenset(
    {"abstractmethod", "cached_property", "classmethod", "contextmanager", "hookimpl", "override", "property"}
    | {"lru_cache", "setter", "staticmethod"}
)
_DOCSTRINGS_ALONE = frozenset({"numpy._core._add_newdocs"})
"""Modules that do nothing but give docstrings to what is written in C."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, *_FUNCTIONS)
_WITH_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def lean(source: bytes, name: str, path: str) -> tuple[CodeType, dict[str, str]]:
    """Return the code of a module without its docstrings, and the docstrings of its classes by qualified name.

    The standard library's dataclasses keep theirs: they would be given their signature instead, which takes longer.

    Raises:
        SyntaxError: the source cannot be compiled.
    """
    tree = ast.parse(b"" if name in _DOCSTRINGS_ALONE else source, path)
    stripping = _Stripping(is_ours=name.partition(".")[0].partition("_")[0] == OURS)
    stripping.strip(tree, "")
    return compile(tree, path, "exec", dont_inherit=True, optimize=0), stripping.documented


class _Stripping:
    """Leaves out of a syntax tree what is not wanted; keeps the docstrings of its classes."""

    def __init__(self, *, is_ours: bool) -> None:
        self.documented: dict[str, str] = {}
        self._is_ours = is_ours

    def strip(self, node: ast.AST, inside: str) -> None:
        """Leave it out of a node and of all below it; `inside` is how the qualified names of these begin."""
        if isinstance(node, ast.ClassDef):
            text = ast.get_docstring(node, clean=False)
            if text is not None:
                self.documented[inside + node.name] = text
            inside += f"{node.name}."
        elif isinstance(node, _FUNCTIONS):
            if self._is_ours and not any(_may_read_annotations(each) for each in node.decorator_list):
                _leave_annotations_out(node)
            inside += f"{node.name}.<locals>."
        elif isinstance(node, ast.Module) and self._is_ours:
            node.body = [kept for each in node.body if (kept := _without_annotation(each))]
        if isinstance(node, _WITH_DOCSTRINGS) and not (isinstance(node, ast.ClassDef) and self._keeps(node)):
            node.body = [each for each in node.body if not _is_text(each)]
            if not node.body and not isinstance(node, ast.Module):
                node.body = [ast.Pass(lineno=node.lineno, col_offset=node.col_offset)]
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _WITH_STATEMENTS):
                self.strip(child, inside)

    def _keeps(self, node: ast.ClassDef) -> bool:
        return not self._is_ours and any("dataclass" in ast.unparse(each) for each in node.decorator_list)


def _may_read_annotations(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name not in _READ_NO_ANNOTATIONS


def _leave_annotations_out(node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    found = node.args
    node.returns = None
    for argument in (*found.posonlyargs, *found.args, *found.kwonlyargs, found.vararg, found.kwarg):
        if argument is not None:
            argument.annotation = None


def _without_annotation(statement: ast.stmt) -> ast.stmt | None:
    """Return a statement of a module, where it names a type without that; None where there is nothing else in it."""
    if not isinstance(statement, ast.AnnAssign):
        return statement
    if statement.value is None:
        return None
    return ast.copy_location(ast.Assign([statement.target], statement.value), statement)


def _is_text(statement: ast.stmt) -> bool:
    """Tell whether a statement is a text alone: a docstring, or what would become one when that is gone."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def write(name: str, path: str) -> bool:
    """Write the lean bytecode of a module, unless it is there; tell whether it is there now."""
    if not may_be_lean(name):
        return False
    try:
        if lean_code(path) is not None:
            return True
        before = os.stat(path)  # noqa: PTH116  as the loader does
        code, documented = lean(Path(path).read_bytes(), name, path)
        target = lean_file(path)
    except (OSError, SyntaxError, ValueError, RecursionError, NotImplementedError):  # Python says what is wrong
        return False
    SourceFileLoader(name, path).set_data(target, header(before) + marshal.dumps(code) + marshal.dumps(documented))
    return True


def below(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield names and paths of the modules in a folder of the import path."""
    for place, _, files in os.walk(folder, followlinks=True):
        for file in files:
            path = Path(place, file)
            if path.suffix == ".py":
                parts = path.relative_to(folder).with_suffix("").parts
                yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), str(path)


def loaded() -> Iterator[tuple[str, str]]:
    """Yield names and paths of the modules that this process has loaded from sources."""
    for name, module in tuple(sys.modules.items()):
        loader = getattr(module, "__loader__", None)
        if isinstance(loader, SourceFileLoader):
            yield name, loader.path


def wanted(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield names and paths of modules: those that importing modules of `words` loads, and all below the folders."""
    modules = [word for word in words if not os.path.isdir(word)]  # noqa: PTH112  a word may be either
    for word in modules:
        importlib.import_module(word)
    if modules:
        yield from loaded()
    for word in words:
        if word not in modules:
            yield from below(Path(word).absolute())


def is_alone_at_idle_priority() -> bool:
    """Take no time from other processes from now on; tell whether none of this installation is doing the same work."""
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    try:
        fcntl.flock(os.open(sys.prefix, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def main(words: list[str]) -> None:
    """Write what is wanted by `words`, or by standard input; that at idle priority, unless another is at it."""
    if words:
        for name, path in wanted(words):
            write(name, path)
        return
    if is_alone_at_idle_priority():
        for line in sys.stdin:
            name, _, path = line.rstrip("\n").partition("\t")
            write(name, path)


if __name__ == "__main__":
    main(sys.argv[1:])
