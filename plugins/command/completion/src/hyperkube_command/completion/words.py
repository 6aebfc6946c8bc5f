"""Which words may follow which: all servers, subcommands and their flags, as a table of the command line so far."""

from __future__ import annotations

from collections.abc import Mapping

import click

from hyperkube.command.main import commands, server_command, servers, subcommand
from hyperkube.plugin.loader import PluginLoadFailed

Table = dict[str, list[str]]
"""The words so far, flags left out (``plugins new``) → those that may come next."""


def table() -> Table:
    """Return the words of all that is installed; what cannot be loaded has none."""
    found: Table = {"": sorted({*servers(), *commands(), "version", "--help", "--version"})}
    for word in servers():
        try:
            flags = server_command(word).all_flags()
        except PluginLoadFailed:
            continue
        found[word] = sorted(f"--{flag.name}" for flag in flags if len(flag.name) > 1 and not flag.deprecated)
    for word in commands():
        try:
            found |= words_of(word, subcommand(word))
        except PluginLoadFailed:
            continue
    return found


def words_of(path: str, command: click.Command) -> Table:
    """Return the words of a click command and of those below it."""
    options = [
        name
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    ]
    choices = [
        str(choice)
        for parameter in command.params
        if isinstance(parameter, click.Argument) and isinstance(parameter.type, click.Choice)
        for choice in parameter.type.choices
    ]
    below: Mapping[str, click.Command] = command.commands if isinstance(command, click.Group) else {}
    found: Table = {path: sorted({*options, *choices, *below, "--help"})}
    for word, each in below.items():
        found |= words_of(f"{path} {word}", each)
    return found
