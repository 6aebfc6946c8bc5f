"""The wheels of the tree, installed into an empty environment as a user would, and a cluster started from there."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

sys.path.append(str(Path(__file__).parents[1] / "repo"))
sys.path.append(str(Path(__file__).parents[1] / "e2e"))
import local_cluster  # type: ignore[import-not-found]
import wheelhouse  # type: ignore[import-not-found]

UV = Path(sys.executable).with_name("uv")
PAGES = Path(__file__).parents[2] / "docs" / "how-to"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheelhouse") / "dist"
    return folder, wheelhouse.build(folder)


def third_party():
    """Yield what of this environment is not of the tree: a library, or what says that it is installed."""
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("hyperkube", "_hyperkube", "__editable__", "_virtualenv", "__pycache__")):
            yield entry


def environment(folder, without=()):
    """Make an environment in which libraries are links to those of this one; return its programs."""
    subprocess.run([str(UV), "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    (site,) = (folder / "lib").glob("python*/site-packages")
    for entry in third_party():
        if entry.name.startswith(tuple(without)):
            continue
        if entry.suffix == ".dist-info":
            shutil.copytree(entry, site / entry.name, dirs_exist_ok=True)  # uv overlooks links to these
        elif not (site / entry.name).exists():
            (site / entry.name).symlink_to(entry)
    return folder / "bin"


@pytest.fixture(scope="module")
def programs(wheels, tmp_path_factory):
    """The programs of an environment with the bundle's wheels."""
    folder = environment(tmp_path_factory.mktemp("fresh") / "venv")
    words = [UV, "pip", "install", "--no-index", "--find-links", wheels[0], "--python", folder / "python"]
    done = subprocess.run([*map(str, words), "hyperkube[etcd,clouds]"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    yield folder
    shutil.rmtree(folder.parent)


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


LARGE = {"kubernetes": "36.0.0", "kubeflow_trainer_api": "2.3.0", "kubernetes_validate": "1.36.0"}
"""The libraries that are left to readers, and the versions in which the index has them: 110 MB stay away."""
NAMED_AS = {"hyperkube_api_descriptions", *LARGE}


@pytest.fixture
def index(wheels, tmp_path):
    """The address of an index of packages on loopback: it has a wheel of the tree, and what stands for libraries."""
    names = {path.name.partition("-")[0]: path for path in wheels[0].glob("*.whl")}
    for name in NAMED_AS:
        folder = tmp_path / "simple" / name.replace("_", "-")
        folder.mkdir(parents=True)
        if name in names:
            shutil.copy(names[name], folder)
        else:
            an_empty_wheel(folder, name, LARGE[name])
    with served(tmp_path) as address:
        yield address


@contextlib.contextmanager
def served(folder):
    """Serve the folder ``simple`` of a folder as an index of packages; yield its address."""
    handler = partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple/"
        server.shutdown()


def told(index):
    """Return what tells pip of an index, and of no other."""
    return {"PIP_INDEX_URL": index, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", "PIP_NO_COMPILE": "1"}


def an_empty_wheel(folder, name, version):
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def requirements(name):
    """Return the distributions that an installed one needs, itself included, by name, without extras."""
    found, waiting = {}, [name]
    while waiting:
        each = metadata.distribution(waiting.pop())
        found[each.name.replace("-", "_")] = each.version
        needed = [Requirement(text) for text in each.requires or ()]
        waiting += [
            row.name
            for row in needed
            if (row.marker is None or row.marker.evaluate({"extra": ""})) and row.name.replace("-", "_") not in found
        ]
    return found


def test_with_libraries_no_index_is_needed(wheels, tmp_path):
    """The index on loopback stands for the usual one, wheels without content for the libraries."""
    wanted = "hyperkube-storage-sqlite"
    folder = shutil.copytree(wheels[0], tmp_path / "dist")
    needed = requirements(wanted)
    libraries = {name: version for name, version in needed.items() if not name.startswith("hyperkube")}
    for name, version in libraries.items():
        place = tmp_path / "simple" / name.replace("_", "-").lower()
        place.mkdir(parents=True)
        an_empty_wheel(place, name, version)

    with served(tmp_path) as index, pytest.MonkeyPatch.context() as patch:
        for variable, value in told(index).items():
            patch.setenv(variable, value)
        sums = wheelhouse.add_libraries(folder, wanted)

    assert {path.name for path in folder.glob("*.whl")} == set(sums) > set(wheels[1])
    subprocess.run([str(UV), "venv", "--quiet", "--python", sys.executable, str(tmp_path / "hk")], check=True)
    words = [
        UV,
        "pip",
        "install",
        "--no-index",
        "--offline",
        "--find-links",
        folder,
        "--python",
        tmp_path / "hk",
        wanted,
    ]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (site,) = (tmp_path / "hk" / "lib").glob("python*/site-packages")
    installed = {each.name.replace("-", "_") for each in metadata.distributions(path=[str(site)])}
    assert installed == needed.keys()


def line_of(page, start):
    """Return the command of a page that begins so."""
    (found,) = re.findall(rf"^(?:\$ )?({re.escape(start)}.*)$", (PAGES / page).read_text(), re.MULTILINE)
    return found


def test_the_lines_with_pip_install_from_wheels_and_from_an_index(wheels, index, tmp_path):
    part = line_of("install-from-wheels.md", "hk/bin/pip install --find-links /tmp/wheelhouse hyperkube-host-apiserver")
    more = line_of("describe-types-and-fields.md", "pip install")
    programs = environment(tmp_path / "hk", without=LARGE)
    (programs / "pip").write_text(f'#!/bin/sh\nexec "{programs}/python" -m pip "$@"\n')
    (programs / "pip").chmod(0o755)
    surroundings = {**os.environ, **told(index), "PATH": f"{programs}:{os.environ['PATH']}"}

    for line in (part.replace("/tmp/wheelhouse", str(wheels[0])), more):
        done = subprocess.run(
            line, shell=True, cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    listed = json.loads(
        subprocess.run([programs / "pip", "list", "--format=json"], capture_output=True, check=True).stdout
    )
    installed = {row["name"].replace("-", "_"): row["version"] for row in listed}
    assert installed.items() >= LARGE.items()
    assert {"hyperkube_host_apiserver", "hyperkube_storage_sqlite", "hyperkube_api_descriptions"} <= installed.keys()
    assert "hyperkube_host_kubelet" not in installed
    said = subprocess.run([programs / "hyperkube", "--help"], capture_output=True, text=True, check=True).stdout
    assert "apiserver" in said
