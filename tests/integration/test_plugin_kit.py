"""What `hyperkube plugins new` writes for each family, built, installed beside one another, checked and tested."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from hyperkube_command.plugins.new import families, planned, write

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
FAMILIES = sorted(families())


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    """Generate a plugin of each family and install their wheels into an environment beside this one."""
    folder = tmp_path_factory.mktemp("kit")
    for family in FAMILIES:
        write(planned(family, f"first-{family}"), folder / family)
    python = folder / "venv" / "bin" / "python"
    run(BIN / "uv", "venv", "--quiet", "--python", sys.executable, folder / "venv")
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    # Whatever this environment has: its packages and, by their .pth files, the distributions of the tree.
    (site / "beside.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    places = [folder / family for family in FAMILIES]
    run(BIN / "uv", "pip", "install", "--quiet", "--no-deps", "--python", python, *places)
    return folder, python


@pytest.fixture(scope="module")
def tested(kit):
    """Run all their tests in one process; return the outcome of each test by file."""
    folder, python = kit
    report = folder / "report.xml"
    words = ["-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider", f"--junit-xml={report}"]
    places = [folder / family / "tests" for family in FAMILIES]
    done = subprocess.run(
        [str(python), *words, "-W", "error", *map(str, places)], capture_output=True, text=True, check=False, cwd=folder
    )
    assert report.exists(), done.stdout + done.stderr
    return report.read_text(), done.stdout


@pytest.mark.parametrize("family", FAMILIES)
def test_a_new_plugin_passes_its_own_tests(tested, family):
    report, output = tested
    name = f"test_first_{family}"

    assert name in report, output
    assert not [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR")) and name in line], output


def test_new_plugins_are_written_as_the_house_writes(kit):
    folder, _ = kit
    sources = [folder / family / "src" for family in FAMILIES]

    # The length of a line depends on the plugin's name.
    settings = ("--no-cache", "--config", ROOT / "pyproject.toml", "--ignore=E501")
    run(BIN / "ruff", "check", *settings, *sources)


def test_new_plugins_are_found_in_order(kit):
    """One interpreter runs the checks on all of them: to start one for each would take most of the time."""
    _, python = kit
    script = (
        "import json, sys\n"
        "from hyperkube_command.plugins import check\n"
        "check.CHECKS = tuple(row for row in check.CHECKS if row[0] != 'start')\n"
        "names = [name for name in check.foreign_distributions() if name.startswith('first-')]\n"
        "found = [f for n in names for p in check.plugins_of(n) for f in check.findings(*p)]\n"
        "print(json.dumps([[f.plugin, f.check, f.level, f.text] for f in found]))\n"
    )
    found = json.loads(run(python, "-c", script))

    assert {plugin.split()[0] for plugin, *_ in found} == set(FAMILIES)
    assert [row for row in found if row[2] != "ok"] == []
    assert ["proxier first-proxier", "flags", "ok", "--first-proxier-connect-timeout"] in found
    assert ["controller first-controller", "hooks", "ok", "controller_build"] in found


def test_the_report_says_what_is_wrong_and_where(kit):
    """A hook that there is not, an argument that it does not have, and tests without the contract of the family."""
    folder, python = kit
    broken = folder / "broken"
    write(planned("admission", "broken-check"), broken)
    module = broken / "src" / "broken_check" / "__init__.py"
    text = module.read_text()
    module.write_text(text.replace("self, request: Adm", "self, asked: Adm").replace("request.", "asked."))
    tests = broken / "tests" / "test_broken_check.py"
    tests.write_text("def test_nothing():\n    pass\n")
    run(BIN / "uv", "pip", "install", "--quiet", "--no-deps", "--python", python, "-e", broken)

    words = [str(python), "-m", "hyperkube.command.main", "plugins", "check", "broken-check"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"})

    assert done.returncode == 1, done.stdout + done.stderr
    assert "admission_validate() takes 'asked', which the hook does not have (request)" in done.stdout
    assert "derives from AdmissionContract" in done.stdout
