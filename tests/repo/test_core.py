"""Core is small, stands alone, and names no plugin."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from source_tree import modules, tree_of
from workspace import ROOT, distributions

CORE = [module for module in modules().values() if module.member.family == "core"]
MOST_LINES = 20_000
MOST_DISTRIBUTIONS = 12
UV = str(Path(sys.executable).with_name("uv"))

NAMES = {
    name
    for member in distributions()
    for group, entries in member.project.get("entry-points", {}).items()  # type: ignore[attr-defined]
    if group.startswith("hyperkube.")
    for name in entries
}
UNMISTAKABLE = re.compile(r"[A-Z]\w*[a-z]\w*[A-Z]\w*|[a-z]+(?:-[a-z]+)+")
"""Names that are no plain words: they must not stand in core at all, docstrings and comments included."""

VOCABULARY = {
    "ServiceAccount": ("the kind", {"kinds/rbac.py"}),
    "kube-apiserver": ("the component's name in its user and its --help", {"plugin/settings.py"}),
    "kube-scheduler": ("the component's name in its user and as a command", {"command/main.py", "machinery/users.py"}),
}
"""Unmistakable names that Kubernetes' API has too: why, and in which files of core."""

TYPES = {"NodeName"}
"""Types of core's own: the name of a node, in the API the field ``nodeName``."""

PLAIN_WORDS = {
    "apps": ("the API group", {"kinds/resources.py"}),
    "batch": ("the API group", {"kinds/resources.py"}),
    "default": (
        "the namespace, a key of files",
        {
            "client/events.py",
            "client/kubeconfig.py",
            "plugin/defaults.py",
            "plugin/flags/files.py",
            "plugin/flags/gates.py",
        },
    ),
    "events": ("the resource", {"kinds/resources.py", "testing/contracts/controller.py"}),
    "exec": ("the credential plugin of a kubeconfig", {"client/kubeconfig.py"}),
    "kubeconfig": ("the flag", {"command/common_flags.py", "command/remote.py"}),
    "memory": ("the compute resource", {"kinds/pods.py", "kinds/qos.py"}),
    "namespace": (
        "the field of every object",
        {
            "client/events.py",
            "client/fake.py",
            "client/kubeconfig.py",
            "client/object_cache.py",
            "kinds/rbac.py",
            "kinds/workloads.py",
            "machinery/objects.py",
            "testing/admission_rig.py",
            "testing/contracts/admission.py",
            "testing/contracts/controller.py",
        },
    ),
    "node": ("the word for a node", {"hookspecs/scheduling.py", "machinery/labels.py"}),
    "plugins": ("a key of flags.toml", {"plugin/flags/files.py"}),
    "policy": ("the API group", {"kinds/resources.py"}),
    "resource": (
        "the field of references",
        {"client/discovery.py", "testing/admission_rig.py"},
    ),
    "status": (
        "the field of every object",
        {
            "client/fake.py",
            "kinds/conditions.py",
            "kinds/pods.py",
            "kinds/workloads.py",
            "machinery/errors.py",
            "testing/contracts/admission.py",
        },
    ),
}
"""Words of the API that some plugin's name equals, where they are literals of core."""


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT / "core/src/hyperkube"))


def _unmistakable() -> set[tuple[str, str]]:
    """Return (name, file) for every unmistakable plugin name in core's text."""
    names = sorted(name for name in NAMES if UNMISTAKABLE.fullmatch(name) and name not in TYPES)
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-])")
    return {(found, _short(module.path)) for module in CORE for found in pattern.findall(module.path.read_text())}


def _literals() -> set[tuple[str, str]]:
    """Return (name, file) for every other plugin name that is a string literal of core."""
    return {
        (node.value, _short(module.path))
        for module in CORE
        for node in ast.walk(tree_of(module.path))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value in NAMES
        and not UNMISTAKABLE.fullmatch(node.value)
    }


def _allowed(table: dict[str, tuple[str, set[str]]]) -> set[tuple[str, str]]:
    return {(word, file) for word, (_, files) in table.items() for file in files}


def test_it_is_small():
    lines = sum(len(module.path.read_text().splitlines()) for module in CORE)

    assert lines < MOST_LINES


def test_it_names_no_plugin():
    assert _unmistakable() - _allowed(VOCABULARY) == set()


def test_no_literal_of_core_is_a_plugins_name_unless_it_is_the_apis_word():
    assert _literals() - _allowed(PLAIN_WORDS) == set()


def test_the_lists_of_words_are_no_longer_than_needed():
    assert _allowed(VOCABULARY) - _unmistakable() == set()
    assert _allowed(PLAIN_WORDS) - _literals() == set()


IMPORT_ALL = """
import importlib, importlib.metadata, pkgutil, hyperkube
names = [module.name for module in pkgutil.walk_packages(hyperkube.__path__, "hyperkube.")]
for name in names:
    importlib.import_module(name)
others = sorted(each.name for each in importlib.metadata.distributions() if each.name != "hyperkube-core")
print(len(names), *others)
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_its_wheel_alone_imports_every_module_and_brings_few_others(tmp_path):
    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(UV, "build", "--quiet", "--wheel", "--out-dir", str(tmp_path / "dist"), str(ROOT / "core"))
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    run(UV, "venv", "--quiet", "--python", sys.executable, str(tmp_path / "venv"))
    python = str(tmp_path / "venv/bin/python")
    run(UV, "pip", "install", "--quiet", "--python", python, str(wheel))

    count, *others = run(python, "-c", IMPORT_ALL).split()

    assert int(count) >= len(CORE) - 1, "every module but the package itself"
    assert len(others) <= MOST_DISTRIBUTIONS, others
    assert "pytest" not in others
