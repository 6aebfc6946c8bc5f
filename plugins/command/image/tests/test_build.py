"""hyperkube's own image, and the master that it brings."""

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
import tarfile

import pytest
from click.testing import CliRunner
from hyperkube_command.image.build import image
from hyperkube_command.image.command import command
from hyperkube_command.image.files import add_distribution, bytecode, closure
from hyperkube_command.image.master import manifest
from hyperkube_lib.image_archive import Layer

from hyperkube.machinery.errors import UsageError


def test_the_closure_of_a_distribution_is_what_it_needs():
    names = [distribution.metadata["Name"] for distribution in closure("hyperkube-command-image")]

    assert {"hyperkube-core", "hyperkube-lib-image-archive", "click", "marshmallow"} <= set(names)
    assert "ruff" not in names


def test_bytecode_of_an_image_is_used_whatever_its_sources_time(tmp_path):
    source = tmp_path / "module.py"
    source.write_text("VALUE = 1\n")
    compiled = importlib.util.cache_from_source(str(source))
    data = bytecode(source)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / compiled.rpartition("/")[2]).write_bytes(data)
    source.write_text("VALUE = 2 # changed, which must go unnoticed\n")

    line = [sys.executable, "-c", "import module; print(module.VALUE)"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout == "1\n"


def test_a_source_that_does_not_compile_has_no_bytecode(tmp_path):
    (tmp_path / "module.py").write_text("def {{ name }}():\n")

    assert bytecode(tmp_path / "module.py") == b""


@pytest.mark.parametrize("by", ["path file", "links"])
def test_an_editable_distribution_comes_with_its_sources(tmp_path, by):
    package = tmp_path / "src" / "some_package"
    package.mkdir(parents=True)
    (package / "layer.py").write_text("VALUE = 1\n")
    site = tmp_path / "site-of-this-machine"
    info = site / "some_package-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-package\nVersion: 0.1.0\n")
    if by == "links":
        (info / "direct_url.json").write_text(f'{{"url": "{tmp_path.as_uri()}", "dir_info": {{"editable": true}}}}')
    else:
        (site / "_editable.pth").write_text(f"{tmp_path / 'src'}\n")
    (info / "RECORD").write_text(f"_editable.pth,,\n{info.name}/METADATA,,\n{info.name}/RECORD,,\n")

    with (tmp_path / "layer.tar").open("w+b") as file:
        layer = Layer(file)
        add_distribution(layer, importlib.metadata.PathDistribution(info), "/site")
        layer.finish()

    with tarfile.open(tmp_path / "layer.tar") as tar:
        names = tar.getnames()
    assert "site/some_package/layer.py" in names
    assert any(name.endswith(".dist-info/METADATA") for name in names)
    assert any("__pycache__/layer." in name for name in names)


@pytest.mark.parametrize("name", ["host", "docker.io/library/hyperkube:latest"])
def test_the_manifest_is_one_pod_of_four_servers(name):
    printed = CliRunner().invoke(command, ["manifest", f"--image={name}"]).output

    pod = json.loads(printed)
    assert pod == manifest(name)
    assert [container["name"] for container in pod["spec"]["containers"]] == [
        "etcd",
        "apiserver",
        "controller-manager",
        "scheduler",
    ]
    assert {container["image"] for container in pod["spec"]["containers"]} == {name}
    assert pod["spec"]["hostNetwork"]


def test_a_part_has_no_server_and_no_program_that_it_does_not_need(tmp_path):
    with (tmp_path / "layer.tar").open("w+b") as file:
        layer = Layer(file)
        image("part", ["hyperkube-core"]).fill(layer)
        layer.finish()

    with tarfile.open(tmp_path / "layer.tar") as tar:
        names = {name.rpartition("/")[2] for name in tar.getnames()}
    assert {"hyperkube", "loader.py", "pyvenv.cfg"} <= names
    assert names.isdisjoint({"kube-apiserver", "kubelet", "iptables", "etcd", "busybox", "numpy", "master.json"})


def test_a_distribution_that_is_not_installed_is_one_line(tmp_path):
    words = ["build", "--output", str(tmp_path / "image.tar"), "--distribution", "hyperkube-absent"]

    with pytest.raises(UsageError, match="--distribution: 'hyperkube-absent' is not installed here"):
        CliRunner().invoke(command, words, catch_exceptions=False, standalone_mode=False)

    assert not (tmp_path / "image.tar").exists()
