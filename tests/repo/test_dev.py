"""``./dev test``, the README's second command: what it runs are tasks of the menu, over all tests that there are.

The tasks are run with programs that only write down how they were called: running the tests from a test would not end.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from itertools import pairwise

import pytest
from stages import FIRST, LANES
from workspace import ROOT

STAGES = [stage for lane in (*FIRST, *LANES) for stage in lane if stage != "servers"]
WRITES_DOWN = '#!/bin/sh\necho "$(basename "$0") $*" >> "$CALLS"\n'
INSTALLED = ("python", "uv", "pytest", "ruff", "lint-imports")
NOT_IN_A_RUN = {"tests/perf"}
"""Measurements need a quiet machine."""


@pytest.fixture
def dev(tmp_path):
    """Return a function that types ``./dev WORDS``, and returns the exit code and what was called."""
    shutil.copy(ROOT / "dev", tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    for name in ("core", "admission", "schedulers", "cloudproviders", "plugins", "tests", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    calls = tmp_path / "calls"
    programs = {f".venv/bin/{name}": WRITES_DOWN for name in INSTALLED}
    programs |= {
        "machine/apt-get": WRITES_DOWN,
        "machine/npm": WRITES_DOWN,
        "machine/find": "#!/bin/sh\n",
        "machine/id": "#!/bin/sh\necho 0\n",
    }
    for path, text in programs.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        (tmp_path / path).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'machine'}:{os.environ['PATH']}", "CALLS": str(calls)}

    def type_it(*words):
        done = subprocess.run(
            ["./dev", *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        called = calls.read_text().splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        return done.returncode, called

    return type_it


def test_it_installs_everything_and_runs_the_stages(dev):
    code, called = dev("test")

    assert code == 0
    assert "uv sync --inexact --all-packages --all-groups" in called
    assert called[-1] == "python tests/repo/stages.py"


@pytest.mark.parametrize("stage", STAGES)
def test_each_stage_is_a_task_that_runs_something_there_is(dev, stage):
    code, called = dev(*stage.split())

    assert code == 0
    program, *words = called[-1].split()
    assert program in INSTALLED
    paths = [word for word in words if "/" in word and "=" not in word]
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_what_talks_to_servers_runs_when_they_are_installed():
    tasks = re.findall(r"^    ([a-z |-]+)\) setup all; servers; ", (ROOT / "dev").read_text(), re.MULTILINE)
    talking = {name for names in tasks for name in names.split(" | ")}
    first = {stage for lane in FIRST for stage in lane}

    assert {"integration", "containers", "faults"} <= talking
    assert "servers" in first
    assert not talking & first


def test_every_folder_of_tests_is_in_a_stage(dev):
    lines = [dev(*stage.split())[1][-1].split() for stage in STAGES]
    folders = {path.parent.relative_to(ROOT) for place in ROOT.glob("[a-z]*") for path in place.rglob("test_*.py")}

    assert len(folders) > 200
    missing = {str(each) for each in folders if not any(runs(words, each) for words in lines)}
    assert missing == NOT_IN_A_RUN


def runs(words, folder):
    """Tell whether a line of pytest runs the tests in a folder."""
    within = {str(each) for each in (folder, *folder.parents)}
    ignored = {word for option, word in pairwise(words) if option == "--ignore"}
    return words[0] == "pytest" and bool(within & (set(words) - ignored)) and not within & ignored
