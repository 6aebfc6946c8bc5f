"""The stages of ``./dev test``: lanes side by side, the failed tests once more alone, and the first failure named."""

from __future__ import annotations

import re
import runpy

import pytest
from stages import AT_ONCE, run_all
from workspace import ROOT

DEV = """#!/bin/sh
echo "$*" >> order
case "$*" in
{cases}
esac
echo "this is $1"
"""
UNTIL = "until {}; do [ -e order ] || exit 1; sleep 0.05; done"
"""Waits for what another stage does, as long as the test does: a busy machine may need long for it."""
FORGETS = "rm -r .pytest_cache/house"


@pytest.fixture
def tasks(tmp_path):
    """Return a function that makes a ``dev`` with what its tasks do, runs lanes, and returns the code and the order."""

    def run(lanes, *last, **cases):
        lines = "\n".join(f"'{stage.replace('_', ' ')}') {commands} ;;" for stage, commands in cases.items())
        (tmp_path / "dev").write_text(DEV.format(cases=lines))
        (tmp_path / "dev").chmod(0o755)
        code = run_all(tmp_path, [lanes, [last]] if last else [lanes])
        return code, (tmp_path / "order").read_text().splitlines()

    yield run
    (tmp_path / "order").unlink()


def failing(*names):
    found = ", ".join(f'"{name}": true' for name in names)
    return f"mkdir -p .pytest_cache/house/v/cache; echo '{{{found}}}' > .pytest_cache/house/v/cache/lastfailed; exit 1"


def test_a_lane_goes_on_after_a_failure_and_the_code_tells_it(tasks, capsys):
    code, order = tasks([("lint", "types")], "faults", lint="exit 3")

    assert (code, order) == (1, ["lint", "types", "faults"])
    assert capsys.readouterr().out.splitlines()[-1] == "failed: lint"


def test_lanes_run_side_by_side_and_the_output_of_each_stage_is_whole(tasks, capsys):
    one, two = (f"mkdir {mine}; {UNTIL.format(f'[ -d {other} ]')}" for mine, other in ("ab", "ba"))

    code, order = tasks([("one",), ("two",)], "last", one=one, two=two)

    assert (code, order[-1]) == (0, "last")
    assert "this is one\n-- one " in capsys.readouterr().out


def test_the_next_lane_begins_when_one_has_ended(tasks):
    long = {f"long{number}": UNTIL.format("grep -qx late order") for number in range(AT_ONCE - 1)}
    short = UNTIL.format(f"[ $(wc -l < order) -ge {AT_ONCE} ]")

    code, order = tasks([*((stage,) for stage in long), ("short",), ("late",)], short=short, **long)

    assert code == 0
    assert (sorted(order[:-1]), order[-1]) == (sorted([*long, "short"]), "late")


def test_what_only_computes_gives_way_to_the_others(tasks, tmp_path):
    tasks([("unit-core",), ("faults",)], **{"unit-core": "nice > computes", "faults": "nice > talks"})

    computes, talks = (int((tmp_path / name).read_text()) for name in ("computes", "talks"))
    assert computes > talks


def test_what_only_computes_has_places_of_its_own(tasks):
    waiting = {f"long{number}": UNTIL.format("grep -qx unit-core order") for number in range(AT_ONCE)}

    code, order = tasks([*((stage,) for stage in waiting), ("unit-core",)], **waiting)

    assert (code, sorted(order)) == (0, sorted([*waiting, "unit-core"]))


def test_files_that_ask_for_the_shared_cluster_are_shared_out_together():
    shared = runpy.run_path(str(ROOT / "tests" / "conftest.py"))["SHARED"]
    texts = {path.name: path.read_text() for path in (ROOT / "tests" / "e2e").glob("test_*.py")}

    asks = re.compile(r"^(def test_\w+|@pytest\.fixture.*\ndef \w+)\([^)]*\b(up|room)\b", re.MULTILINE)
    own = re.compile(r"^def room\((?![^)]*\bup\b)", re.MULTILINE)
    assert {name for name, text in texts.items() if asks.search(text) and not own.search(text)} == {*shared}


AGAIN = "-n0 --last-failed --last-failed-no-failures=none"


def test_tests_that_pass_alone_are_named_and_fail_nothing(tasks, capsys):
    code, order = tasks([("house", "solo")], house=failing("t.py::test_a"), **{f"house {AGAIN}": FORGETS})

    assert (code, order) == (0, ["house", "solo", f"house {AGAIN}"])
    assert "flaky (failed beside other tests, passed alone): t.py::test_a" in capsys.readouterr().out


def test_tests_that_fail_alone_too_fail_the_stage(tasks, capsys):
    again = failing("t.py::test_b")
    code, _ = tasks([("house",)], house=failing("t.py::test_a", "t.py::test_b"), **{f"house {AGAIN}": again})

    said = capsys.readouterr().out
    assert code == 1
    assert "alone): t.py::test_a" in said
    assert "alone): t.py::test_b" not in said
    assert said.splitlines()[-1] == "failed: house"


def test_a_stage_that_breaks_before_its_tests_is_not_repeated(tasks):
    code, order = tasks([("house",)], house="exit 2")

    assert (code, order) == (1, ["house"])


def test_solo_installs_that_fail_beside_others_are_tried_again_whole(tasks, capsys):
    code, order = tasks([("solo --all",)], **{"solo --all": "mkdir tried 2> /dev/null && exit 1 || exit 0"})

    assert (code, order) == (0, ["solo --all", "solo --all"])
    assert "flaky (failed beside other tests, passed alone): solo --all" in capsys.readouterr().out
