"""The scripts, asked by the shells themselves."""

import shutil
import subprocess

import click
import pytest
from hyperkube_command.completion.scripts import SHELLS, bash, fish, zsh
from hyperkube_command.completion.words import words_of

WORDS = {
    "": ["apiserver", "plugins", "up", "--help"],
    "up": ["--processes", "--port", "--help"],
    "plugins": ["list", "new", "--help"],
    "plugins new": ["--folder", "--help"],
}
LINES = [
    ("", {"apiserver", "plugins", "up", "--help"}),
    ("pl", {"plugins"}),
    ("up --p", {"--processes", "--port"}),
    ("plugins ", {"list", "new", "--help"}),
    ("plugins new --f", {"--folder"}),
    ("up --processes --h", {"--help"}),
]


def asked(shell, *words):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    done = subprocess.run([shell, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(("line", "expected"), LINES, ids=[line or "nothing" for line, _ in LINES])
def test_bash_completes(line, expected):
    words = ["hyperkube", *line.split(), *([""] if not line or line.endswith(" ") else [])]
    asking = f"COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; _hyperkube"

    assert asked("bash", "-c", f'{bash(WORDS)}\n{asking}\nprintf "%s\\n" "${{COMPREPLY[@]}}"') == expected


@pytest.mark.parametrize(("line", "expected"), LINES, ids=[line or "nothing" for line, _ in LINES])
def test_fish_completes(line, expected):
    found = asked("fish", "--no-config", "-c", f"{fish(WORDS)}\ncomplete --do-complete 'hyperkube {line}'")

    assert found >= {word for word in expected if line.endswith(" ") or line == "" or word.startswith(line.split()[-1])}


def test_zsh_reads_its_script():
    assert asked("zsh", "-f", "-c", f'{zsh(WORDS)}\n_hyperkube_words "plugins new"') == {"--folder", "--help"}


def test_a_script_for_each_shell_has_all_words():
    for script in SHELLS.values():
        text = script(WORDS)
        assert all(word in text for row in WORDS.values() for word in row)


def test_options_choices_and_subcommands_are_words():
    @click.group()
    def top():
        pass

    @top.command("in")
    @click.argument("what", type=click.Choice(["a", "b"]))
    @click.option("--deep/--flat", default=True)
    @click.option("--secret", hidden=True)
    def inner(what, deep, secret):
        pass

    assert words_of("top", top) == {
        "top": ["--help", "in"],
        "top in": ["--deep", "--flat", "--help", "a", "b"],
    }
