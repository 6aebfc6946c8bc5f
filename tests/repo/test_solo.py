"""Every distribution stands on what it declares: its entry points load where nothing else is."""

from __future__ import annotations

import subprocess
import venv

from solo import Loader, compose, kits, requirements
from workspace import distributions

MEMBERS = distributions()


def test_what_is_needed_is_what_is_declared_and_what_that_declares():
    needed = requirements("hyperkube-authz-rbac")

    assert {"hyperkube-authz-rbac", "hyperkube-core", "orjson", "pluggy"} <= needed
    assert not needed & {"pytest", "numpy", "hyperkube-host-apiserver", "hyperkube-authz-node"}


def test_tests_bring_the_kits_and_libraries_that_they_import():
    [member] = [member for member in MEMBERS if member.name == "hyperkube-storage-sqlite"]

    assert "hyperkube-lib-watch-cache" in kits(member)


def test_nothing_else_is_on_the_composed_path(tmp_path):
    venv.create(tmp_path / "venv", symlinks=True)
    path = compose(tmp_path / "site", requirements("hyperkube-core"), {member.name: member for member in MEMBERS})
    script = (
        "import importlib.util as u, hyperkube, orjson\n"
        "print([name for name in ('numpy', 'pytest', 'hyperkube_lib', 'flask') if u.find_spec(name)])"
    )

    done = subprocess.run(
        [str(tmp_path / "venv/bin/python"), "-c", script],
        env={"PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_an_entry_point_that_imports_more_than_is_declared_cannot_be_loaded_and_the_next_one_can(tmp_path):
    venv.create(tmp_path / "venv", symlinks=True)
    core = compose(tmp_path / "core", requirements("hyperkube-core"), {member.name: member for member in MEMBERS})
    paths = {}
    for name, body in (("needy", "import numpy"), ("loud", "print('hello'); raise SystemExit"), ("modest", "")):
        info = tmp_path / name / f"{name}-1.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[hyperkube.authz]\n{name} = {name}_module\n")
        (tmp_path / name / f"{name}_module.py").write_text(f"import hyperkube.hookspecs.authz\n{body}\n")
        paths[name] = f"{tmp_path / name}:{core}"

    with Loader(str(tmp_path / "venv/bin/python"), core) as loader:
        failures = {name: loader.failure(name, path) for name, path in paths.items()}

    assert failures["needy"].endswith("ModuleNotFoundError: No module named 'numpy'\n")
    assert failures["loud"].startswith("hello\n")
    assert failures["modest"] == ""
