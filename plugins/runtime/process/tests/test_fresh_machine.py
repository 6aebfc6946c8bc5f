"""On a machine that has just started: terminals work, and pods change nothing outside their folder."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a clean /dev needs root")


@pytest.fixture
def folder():
    """A folder that other users may enter, which pytest's own may not be."""
    path = Path(tempfile.mkdtemp(prefix="hyperkube-fresh-"))
    path.chmod(0o777)
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("uid", [pytest.param(0, id="root"), pytest.param(65534, id="user")])
def test_a_fresh_machine_has_terminals_and_stays_as_it_is(folder, uid):
    script = Path(__file__).with_name("fresh_machine.py")

    done = subprocess.run(
        [sys.executable, str(script), str(folder), str(uid)], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    if report["said"]["plain view"] != "private":
        pytest.skip("this machine allows no private mounts")
    assert report["changed"] == []
    assert report["said"]["plain"] == "value\nvalue"
    assert report["said"]["terminal"] == "/dev/pts/0\nyes"
    assert (folder / "message").read_text() == "x"
