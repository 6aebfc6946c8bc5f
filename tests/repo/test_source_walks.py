"""The walks through the sources lead where they say: each name is defined in the file that it is linked to."""

from __future__ import annotations

import ast
import re

import pytest
from workspace import ROOT

WALKS = sorted((ROOT / "docs" / "explanation" / "from-the-source").glob("*.md"))
NAMED = re.compile(r"\[`([\w.]+)`\]\((\.\./[\w./-]+\.py)\)")


def places():
    """Yield each walk, each name that it links, and the file that the link leads to."""
    for walk in WALKS:
        for name, target in NAMED.findall(walk.read_text()):
            yield pytest.param(name, (walk.parent / target).resolve(), id=f"{walk.stem}-{name}")


@pytest.mark.parametrize(("name", "path"), [*places()])
def test_a_name_is_defined_in_the_file_that_it_leads_to(name, path):
    body = ast.parse(path.read_text()).body

    for part in name.split("."):
        found = [node for node in body if part in _names(node)]
        assert found, f"{path.relative_to(ROOT)} has no {name}"
        body = getattr(found[-1], "body", [])


def _names(node):
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.stem)
def test_a_walk_is_listed_and_leads_into_the_tree(walk):
    if walk.stem == "README":
        assert {path.name for path in WALKS} - {"README.md"} == set(re.findall(r"\]\(([\w-]+\.md)\)", walk.read_text()))
    else:
        assert len(NAMED.findall(walk.read_text())) >= 10
