"""One command, many names."""

import os
import subprocess
import sys
import threading

import pytest

from hyperkube.command import main
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import loader

SOURCE = """
import click

from hyperkube.command.common_flags import GLOBAL
from hyperkube.command.server_command import ServerCommand

SERVER = ServerCommand("kube-acme", "Long text.", "kube-acme --v=2", GLOBAL, lambda _options: None)


@click.command()
def command():
    "Greet."
    click.echo("hello")
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Install a server and a subcommand of a third party; return the folder."""
    folder = tmp_path / "site"
    info = folder / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[hyperkube.server]\nkube-acme = acme_command:SERVER\n[hyperkube.command]\ngreet = acme_command:command\n"
        "broken = acme_nowhere:command\n"
    )
    (folder / "acme_command.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("acme_command", None)


def hyperkube(*args, path=""):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(path), os.environ.get("PYTHONPATH")]))}
    return subprocess.run(
        [sys.executable, "-m", "hyperkube.command.main", *args],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


@pytest.mark.parametrize("name", ["kube-acme", "/usr/bin/kube-acme"])
def test_a_servers_name_chooses_the_server(name, site, capsys):
    main.run(name, ["--version"])

    assert capsys.readouterr().out.startswith("Kubernetes v1.36")


def test_a_command_looks_at_the_import_path_once(site, monkeypatch, capsys):
    looks = []  # with who looked: a thread that another test left behind may look, too

    def looked(folder):
        looks.append((threading.get_ident(), folder))
        return 0

    monkeypatch.setattr(loader, "_changed_at", looked)
    monkeypatch.setattr(sys, "argv", ["hyperkube", "acme", "--help"])

    main.main()

    assert "Usage:" in capsys.readouterr().out
    assert [folder for thread, folder in looks if thread == threading.get_ident()] == sys.path


@pytest.mark.parametrize("word", ["kube-acme", "acme"])
def test_a_first_word_chooses_the_server(word, site, capsys):
    main.run("hyperkube", [word, "--help"])

    assert "Usage:\n  kube-acme" in capsys.readouterr().out


def test_a_first_word_chooses_the_subcommand(site, capsys):
    main.run("hyperkube", ["greet"])

    assert capsys.readouterr().out == "hello\n"


def test_help_lists_what_is_installed_also_what_cannot_be_loaded(site):
    lines = [" ".join(line.split()) for line in main.usage().splitlines()]

    assert "acme the same as kube-acme" in lines
    assert "greet Greet." in lines
    assert "broken (cannot be loaded: command 'broken' of acme: No module named 'acme_nowhere')" in lines


def test_an_unknown_command_prints_usage_and_one_error_line():
    done = hyperkube("nosuch")

    assert done.returncode == 1
    assert "\nerror: unknown command 'nosuch': not installed (a server comes with" in done.stderr
    assert "Servers:" in done.stderr


def test_no_command_is_an_error_too():
    assert hyperkube().returncode == 1


def test_an_unknown_flag_exits_1_with_one_line(site):
    done = hyperkube("kube-acme", "--nosuch", path=site)

    assert done.returncode == 1
    assert done.stderr == "error: unknown flag: --nosuch (see kube-acme --help)\n"


def test_links_are_made_for_all_servers(site, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "links"
    folder.mkdir()
    monkeypatch.chdir(folder)

    main.run("hyperkube", ["--make-symlinks"])
    main.run("hyperkube", ["--make_symlinks"])

    links = sorted(path.name for path in folder.iterdir())
    assert links == sorted(entry.name for entry in main.servers().values())
    assert "kube-acme" in links


def test_a_bad_option_of_a_command_is_a_users_mistake(site):
    with pytest.raises(UsageError, match="No such option"):
        main.run("hyperkube", ["greet", "--nosuch"])
