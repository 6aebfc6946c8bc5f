"""One command, many names."""

import subprocess
import sys

import pytest

from hyperkube.command import main
from hyperkube.machinery.errors import UsageError


def hyperkube(*args, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "hyperkube.command.main", *args], capture_output=True, text=True, check=False, cwd=cwd
    )


@pytest.mark.parametrize("name", ["kube-apiserver", "/usr/bin/kube-apiserver", "apiserver"])
def test_a_servers_name_chooses_the_server(name, capsys):
    main.run(name, ["--version"])

    assert capsys.readouterr().out.startswith("Kubernetes v1.36")


@pytest.mark.parametrize("word", ["kube-scheduler", "scheduler", "kubelet", "kube-proxy", "controller-manager"])
def test_a_first_word_chooses_the_server(word, capsys):
    main.run("hyperkube", [word, "--help"])

    assert "Usage:" in capsys.readouterr().out


def test_an_unknown_command_prints_usage_and_one_error_line():
    done = hyperkube("nosuch")

    assert done.returncode == 1
    assert "\nerror: unknown command 'nosuch': not installed (a server comes with" in done.stderr
    assert "Servers:" in done.stderr


def test_no_command_is_an_error_too():
    assert hyperkube().returncode == 1


def test_an_unknown_flag_exits_1_with_one_line():
    done = hyperkube("kube-apiserver", "--nosuch")

    assert done.returncode == 1
    assert done.stderr == "error: unknown flag: --nosuch (see kube-apiserver --help)\n"


def test_links_are_made_for_all_five_servers(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    main.run("hyperkube", ["--make-symlinks"])
    main.run("hyperkube", ["--make_symlinks"])

    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(entry.name for entry in main.servers().values())


def test_a_bad_option_of_a_command_is_a_users_mistake():
    with pytest.raises(UsageError, match="No such option"):
        main.run("hyperkube", ["up", "--nosuch"])
