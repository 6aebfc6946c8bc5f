"""What the documentation shows is what the tree holds: code, links, tasks, flags, hooks."""

from __future__ import annotations

import re
import shlex
from textwrap import indent

import pytest
import server_reference
from hyperkube_command.plugins.new import families, planned
from workspace import ROOT

from hyperkube.command.main import commands, server_command, servers, subcommand

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")])
WRITTEN = [page for page in PAGES if page.parent != ROOT / "docs" / "reference"]
SHOWN = re.compile(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(?:#[\w-]+)?\)")
BEGUN = re.compile(r"^hyperkube plugins new (\w+) ([\w-]+)", re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def ident(page):
    return str(page.relative_to(ROOT))


def shell_lines(page):
    """Return the commands that a page tells people to type, lines joined."""
    for language, text in BLOCK.findall(page.read_text()):
        if language == "sh":
            yield from (line for line in text.replace("\\\n", " ").splitlines() if line.strip())


@pytest.mark.parametrize("page", WRITTEN, ids=ident)
def test_code_that_is_shown_is_the_files_own(page):
    for path, text in SHOWN.findall(page.read_text()):
        assert text == (ROOT / path).read_text(), f"{path} differs: run tests/repo/shown_files.py"


@pytest.mark.parametrize("page", [page for page in WRITTEN if BEGUN.search(page.read_text())], ids=ident)
def test_what_it_shows_of_a_begun_plugin_is_what_is_written(page):
    family, name = BEGUN.findall(page.read_text())[0]
    written = [_without_gaps(text) for text in planned(family, name).files().values()]

    for language, text in BLOCK.findall(page.read_text()):
        shown = [_without_gaps(form) for form in (text, indent(text, "    "))]  # methods alone stand without an indent
        assert language != "python" or any(form in each for form in shown for each in written), text


def _without_gaps(text):
    """Return a text without the empty lines, of which functions have more around them than methods."""
    return "\n".join(line for line in text.splitlines() if line) + "\n"


def test_each_family_has_a_page_for_authors():
    pages = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    told = {family for family, _ in BEGUN.findall(pages)} | {"controller", "scheduler"}

    assert told == set(families())


def test_the_tutorial_shows_all_three_files():
    page = ROOT / "docs" / "tutorial" / "first-admission-plugin.md"
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "examples" / "require_team_label").rglob("*.[pt][yo]*")}

    assert {path for path, _ in SHOWN.findall(page.read_text())} == {
        name for name in files if "__pycache__" not in name
    }


@pytest.mark.parametrize("page", PAGES, ids=ident)
def test_its_links_lead_somewhere(page):
    targets = [target for target in LINK.findall(page.read_text()) if "://" not in target]

    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", WRITTEN, ids=ident)
def test_the_tasks_it_names_are_on_the_menu(page):
    menu = (ROOT / "dev").read_text()

    for task in re.findall(r"\./dev (\w+)", page.read_text()):
        assert re.search(rf"^  {task} ", menu, re.MULTILINE), task


@pytest.mark.parametrize("page", WRITTEN, ids=ident)
def test_the_flags_in_its_commands_exist(page):
    for line in shell_lines(page):
        words = shlex.split(line, comments=True)
        command = known_command(words)
        if command is None:
            continue
        given = {word.split("=")[0] for word in words if word.startswith("--") and len(word) > 2}
        assert given <= flags_of(command), line


def known_command(words):
    """Return which of our commands a line runs, if any."""
    words = [word.removeprefix(".venv/bin/") for word in words]
    if words[:1] in (["./dev"], ["hyperkube"]) and len(words) > 1:
        return words[1] if words[1] in {*commands(), *servers()} else None
    by_name = {entry.name: word for word, entry in servers().items()}
    return by_name.get(words[0]) if words else None


def flags_of(word):
    if word in servers():
        table = server_command(word).all_flags()
        return {f"--{name}" for flag in table for name in (flag.name, *flag.aliases)}
    import click

    found, pending = {"--help"}, [subcommand(word)]
    while pending:
        current = pending.pop()
        pending += getattr(current, "commands", {}).values()
        found |= {
            option
            for parameter in current.params
            if isinstance(parameter, click.Option)
            for option in parameter.opts + parameter.secondary_opts
        }
    return found


def test_the_pages_of_the_servers_are_current():
    for path, text in server_reference.pages().items():
        assert path.read_text() == text, f"{path.name}: run ./dev docs"


@pytest.mark.parametrize("word", servers())
def test_each_server_has_a_page_with_all_its_flags(word):
    command = server_command(word)
    page = (ROOT / "docs" / "reference" / f"{command.name}.md").read_text()

    assert [flag.name for flag in command.all_flags() if f"`--{flag.name}`" not in page] == []


def test_the_paths_of_where_is_what_exist():
    rows = [line.split(" | ") for line in (ROOT / "docs/explanation/where-is-what.md").read_text().splitlines()]
    ours = {path for cells in rows if len(cells) > 1 for path in re.findall(r"`([\w./-]+)`", cells[1]) if "/" in path}

    assert len(ours) > 50
    assert sorted(path for path in ours if not (ROOT / path).exists()) == []


def test_every_decision_is_listed():
    folder = ROOT / "docs" / "decisions"
    listed = set(LINK.findall((folder / "README.md").read_text()))

    assert {path.name for path in folder.glob("[0-9]*.md")} <= listed


def test_no_page_speaks_of_this_machine():
    wrong = [ident(page) for page in PAGES if re.search(r"/work/|/root/|/home/\w|\.\./shared", page.read_text())]

    assert wrong == []


def test_numbers_of_decisions_are_not_used_twice():
    numbers = [path.name[:4] for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md")]

    assert sorted(numbers) == sorted(set(numbers))
