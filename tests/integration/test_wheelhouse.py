"""The wheels of the tree, installed into an empty environment as a user would, and a cluster started from there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "repo"))
sys.path.append(str(Path(__file__).parents[1] / "e2e"))
import local_cluster  # type: ignore[import-not-found]
import wheelhouse  # type: ignore[import-not-found]

UV = Path(sys.executable).with_name("uv")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheelhouse") / "dist"
    return folder, wheelhouse.build(folder)


def third_party():
    """Yield what of this environment is not of the tree: a library, or what says that it is installed."""
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("hyperkube", "_hyperkube", "__editable__", "_virtualenv", "__pycache__")):
            yield entry


@pytest.fixture(scope="module")
def programs(wheels, tmp_path_factory):
    """The programs of an environment with the bundle's wheels; libraries are links to those of this environment."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    subprocess.run([str(UV), "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    python = folder / "bin" / "python"
    (site,) = (folder / "lib").glob("python*/site-packages")
    for entry in third_party():
        if entry.suffix == ".dist-info":
            shutil.copytree(entry, site / entry.name, dirs_exist_ok=True)  # uv overlooks links to these
        elif not (site / entry.name).exists():
            (site / entry.name).symlink_to(entry)
    words = [
        UV,
        "pip",
        "install",
        "--no-index",
        "--find-links",
        wheels[0],
        "--python",
        python,
        "hyperkube[etcd,clouds]",
    ]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    yield folder / "bin"
    shutil.rmtree(folder)


def test_the_same_sources_are_the_same_bytes(wheels, tmp_path):
    _, sums = wheels

    assert wheelhouse.build(tmp_path / "again") == sums


def test_the_hashes_are_those_of_the_wheels(wheels):
    folder, sums = wheels
    lines = dict(reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines())

    assert lines == sums
    assert {path.name for path in folder.glob("*.whl")} == set(sums)
    name = min(sums)
    assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sums[name]


def test_nothing_comes_from_the_tree(programs):
    script = (
        "import json\n"
        "from importlib.metadata import distributions\n"
        "found = [str(d.locate_file('')) for d in distributions() if d.metadata['Name'].startswith('hyperkube')]\n"
        "print(json.dumps(sorted(set(found))))\n"
    )
    places = json.loads(
        subprocess.run([str(programs / "python"), "-c", script], capture_output=True, check=True).stdout
    )

    assert [Path(place).is_relative_to(programs.parent) for place in places] == [True]


def test_the_command_lists_servers_and_subcommands(programs):
    said = subprocess.run([str(programs / "hyperkube"), "--help"], capture_output=True, text=True, check=True).stdout

    assert "cannot be loaded" not in said
    words = [line.split()[0] for line in said.splitlines() if line.startswith("  ")]
    assert {"apiserver", "controller-manager", "scheduler", "kubelet", "proxy", "up", "plugins", "why"} <= set(words)


@pytest.mark.skipif(bool(local_cluster.missing_program()), reason="there is no kubectl")
def test_a_cluster_runs_a_pod(programs, tmp_path, monkeypatch):
    monkeypatch.setattr(local_cluster, "HYPERKUBE", programs / "hyperkube")
    monkeypatch.setattr(local_cluster, "START_SECONDS", 120.0)  # the first start writes the bytecode
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")

    with local_cluster.LocalCluster(tmp_path / "cluster").running() as cluster:
        cluster.kubectl("run", "web", "--image=host", "--command", "--", "sleep", "60")
        cluster.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=60s")
