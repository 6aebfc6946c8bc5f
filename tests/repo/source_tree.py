"""The modules of the workspace and what each imports: at the top, inside functions, or for types only."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workspace import ROOT, Distribution, distributions


@dataclass(frozen=True, slots=True)
class Import:
    """One import statement's module."""

    name: str
    """As it is written: of ``from a import b``, ``a.b``."""
    module: str
    """The module of the workspace that it loads; empty if it is none of ours."""
    line: int
    top: bool
    """Whether it happens when the module is imported, and not inside a function or for types only."""


@dataclass(frozen=True, slots=True)
class Module:
    """One source file."""

    name: str
    path: Path
    member: Distribution
    imports: tuple[Import, ...]

    @property
    def file(self) -> str:
        """The path from the root of the tree."""
        return str(self.path.relative_to(ROOT))


@cache
def tree_of(path: Path) -> ast.Module:
    """Parse a file, once for all the house rules."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def modules() -> dict[str, Module]:
    """Return the modules of all distributions by name; generated stubs are left out."""
    paths: dict[str, tuple[Path, Distribution]] = {}
    for member in distributions():
        for path in sorted(member.source.rglob("*.py")):
            name = ".".join(path.relative_to(member.source).with_suffix("").parts)
            paths[name.removesuffix(".__init__")] = (path, member)
    return {
        name: Module(name, path, member, tuple(imports_of(tree_of(path), paths.keys())))
        for name, (path, member) in paths.items()
    }


def imports_of(tree: ast.Module, known: Container[str]) -> Iterator[Import]:
    """Yield the imports of a parsed file; `known` are the names of our modules."""
    for statement, top in import_statements(tree):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif statement.module and not statement.level:
            names = [f"{statement.module}.{alias.name}" for alias in statement.names]
        else:
            names = []
        for name in names:
            yield Import(name, _module(name, known), statement.lineno, top)


def import_statements(tree: ast.AST, top: bool = True) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yield the import statements of a parsed file, and whether each is executed when the file is imported.

    Statements stand in statements only: the expressions, which are most of a tree, are not looked at.
    """
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(tree, block, ()):
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield child, top
            else:
                later = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or _types(child)
                yield from import_statements(child, top and not later)


def _types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def _module(name: str, known: Container[str]) -> str:
    """Return the longest known module that a dotted name begins with."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one node, each sorted (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found: list[list[str]] = []

    def enter(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)

    for root in graph:
        if root in index:
            continue
        enter(root)
        path = [(root, iter(graph[root]))]
        while path:
            node, edges = path[-1]
            for other in edges:
                if other not in index:
                    enter(other)
                    path.append((other, iter(graph.get(other, ()))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    component = stack[stack.index(node) :]
                    del stack[stack.index(node) :]
                    on_stack -= set(component)
                    if len(component) > 1:
                        found.append(sorted(component))
    return found
