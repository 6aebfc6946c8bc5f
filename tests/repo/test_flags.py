"""Every flag of every server has help, a readable default, and one meaning."""

from __future__ import annotations

import pytest

from hyperkube.command.main import server_command, servers

SERVERS = tuple(servers())
COMMANDS = {word: server_command(word) for word in SERVERS}
FLAGS = [pytest.param(flag, id=f"{word}/{flag.name}") for word, command in COMMANDS.items() for flag in command.flags]


@pytest.mark.parametrize("flag", FLAGS)
def test_it_has_help_in_the_houses_style(flag):
    assert flag.help
    assert not flag.help.endswith(".")
    assert flag.section


@pytest.mark.parametrize("flag", FLAGS)
def test_its_default_can_be_read(flag):
    flag.kind.convert(flag.default)


@pytest.mark.parametrize("word", SERVERS)
def test_no_spelling_means_two_things(word):
    spellings = [name for flag in COMMANDS[word].flags for name in (flag.name, *flag.aliases)]

    assert sorted(spellings) == sorted(set(spellings))
