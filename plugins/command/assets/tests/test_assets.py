"""A folder of programs as envtest looks for them."""

import os
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner
from hyperkube_command import assets

from hyperkube.machinery.errors import UsageError


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Put programs onto an otherwise empty PATH; return where an API server seems to be installed."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(assets, "_program", shutil.which)

    def put(*names):
        for name in names:
            (folder / name).write_text("#!/bin/sh\n")
            (folder / name).chmod(0o755)
        return folder

    return put


def make(folder, *words):
    return CliRunner().invoke(assets.command, [str(folder), *words], catch_exceptions=False)


def test_what_is_installed_is_linked(programs, tmp_path):
    bin_folder = programs("kube-apiserver", "etcd", "kubectl")

    made = make(tmp_path / "assets")

    assert made.output == f"export KUBEBUILDER_ASSETS={tmp_path / 'assets'}\n"
    assert {path.name: path.readlink() for path in (tmp_path / "assets").iterdir()} == {
        name: bin_folder / name for name in ("kube-apiserver", "etcd", "kubectl")
    }


def test_without_etcd_the_server_keeps_objects_in_memory(programs, tmp_path):
    bin_folder = programs("kube-apiserver", "kubectl")

    make(tmp_path / "assets")

    text = (tmp_path / "assets" / "kube-apiserver").read_text()
    assert f'exec {bin_folder / "kube-apiserver"} "$@" --storage-backend=memory' in text
    assert os.access(tmp_path / "assets" / "etcd", os.X_OK)


def test_hyperkubes_own_etcd_is_taken_when_asked_for(programs, tmp_path, monkeypatch):
    bin_folder = programs("kube-apiserver", "etcd", "kubectl", "hyperkube")
    monkeypatch.setattr(assets, "installed", lambda _family: {"etcd": None})

    make(tmp_path / "assets", "--own-etcd")

    assert f'exec {bin_folder / "hyperkube"} etcd "$@"' in (tmp_path / "assets" / "etcd").read_text()
    assert (tmp_path / "assets" / "kube-apiserver").readlink() == bin_folder / "kube-apiserver"


def test_an_etcd_that_is_not_installed_is_one_line(programs, tmp_path, monkeypatch):
    programs("kube-apiserver", "kubectl", "hyperkube")
    monkeypatch.setattr(assets, "installed", lambda _family: {})

    with pytest.raises(UsageError, match="--own-etcd needs distribution 'hyperkube-command-etcd'"):
        make(tmp_path / "assets", "--own-etcd")


def test_the_stand_in_tells_its_flags(programs, tmp_path):
    programs("kube-apiserver", "kubectl")
    make(tmp_path / "assets")

    done = subprocess.run(
        [sys.executable, tmp_path / "assets" / "etcd", "--help"], capture_output=True, text=True, check=True
    )

    assert "unsafe-no-fsync" not in done.stdout
    assert "--listen-client-urls" in done.stdout


def test_a_folder_may_be_made_again_and_programs_stay_as_they_are(programs, tmp_path):
    bin_folder = programs("kube-apiserver", "etcd", "kubectl")
    make(tmp_path / "assets")

    make(tmp_path / "assets", "--in-memory")

    assert (bin_folder / "kube-apiserver").read_text() == "#!/bin/sh\n"
    assert not (tmp_path / "assets" / "etcd").is_symlink()


def test_without_an_api_server_it_names_the_distribution(programs, tmp_path):
    programs("etcd", "kubectl")

    with pytest.raises(UsageError, match="it comes with distribution 'hyperkube-host-apiserver'"):
        make(tmp_path / "assets")


def test_without_kubectl_it_warns(programs, tmp_path):
    programs("kube-apiserver", "etcd")

    assert "there is no kubectl on the PATH" in make(tmp_path / "assets").output
