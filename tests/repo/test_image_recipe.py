"""The recipe of examples/service for an image of Alpine: what of it can be judged without a container engine."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import tomllib
from fnmatch import fnmatch
from pathlib import PurePosixPath

import pytest
from workspace import ROOT, distributions

from hyperkube.command.main import subcommand

FOLDER = ROOT / "examples" / "service"
PAGE = ROOT / "docs" / "how-to" / "install-from-wheels.md"
PYTHON = "cp312"
"""The Python of the Alpine release that the recipe names."""
COMPILED = {"google-re2": {"python3-dev", "g++", "re2-dev", "abseil-cpp-dev", "py3-pybind11-dev"}}
"""Libraries without a wheel for musl → the packages of Alpine that compiling one takes."""
WHEEL = re.compile(r"-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl$")


def stages():
    """Return the lines of each stage as pairs of instruction and arguments."""
    text = (FOLDER / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    found = []
    for word, rest in lines:
        if word == "FROM":
            found.append([])
        found[-1].append((word, rest))
    return found


BUILD, FINAL = stages()


def commands(stage):
    """Yield the words of each command that a stage runs."""
    for word, rest in stage:
        if word == "RUN":
            yield from (shlex.split(part) for part in rest.split("&&"))


def arguments(stage, instruction):
    (found,) = [rest for word, rest in stage if word == instruction]
    return found


def packages(stage):
    """Return the packages of Alpine that a stage installs."""
    (words,) = [words for words in commands(stage) if words[:2] == ["apk", "add"]]
    return {word for word in words[2:] if not word.startswith("-")}


def pip():
    (words,) = [words for words in commands(BUILD) if words[0] == "pip"]
    return words


def runs_on_musl(url):
    """Tell whether pip on Alpine takes a wheel, on both of the processors that most images are for."""
    tags = WHEEL.search(url)
    if tags["platform"] == "any":
        return {"x86_64", "aarch64"}
    fits = tags["python"] == PYTHON or tags["abi"] == "abi3" or tags["python"] == "py3"
    return {cpu for cpu in ("x86_64", "aarch64") if fits and re.search(rf"musllinux_1_[12]_{cpu}", tags["platform"])}


def locked():
    """Return what the bundle needs, by name, with the wheels that there are."""
    known = {row["name"]: row for row in tomllib.loads((ROOT / "uv.lock").read_text())["package"]}
    found, waiting = {}, ["hyperkube"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = [wheel["url"] for wheel in known[name].get("wheels", ())]
            needed = known[name].get("dependencies", ())
            waiting += [row["name"] for row in needed if "win32" not in row.get("marker", "")]
    return {name: urls for name, urls in found.items() if not name.startswith("hyperkube")}


def test_the_image_starts_what_the_unit_of_systemd_starts():
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str
    unit.read(FOLDER / "hyperkube.service")

    assert json.loads(arguments(FINAL, "ENTRYPOINT")) == shlex.split(unit["Service"]["ExecStart"])


def test_its_words_and_flags_are_ours():
    _program, word, *flags = json.loads(arguments(FINAL, "ENTRYPOINT"))
    known = {name for parameter in subcommand(word).params for name in parameter.opts}

    assert {flag.partition("=")[0] for flag in flags} <= known


def test_the_folder_of_data_belongs_to_the_user_alone():
    program, _word, flag = json.loads(arguments(FINAL, "ENTRYPOINT"))
    folder, user = flag.partition("=")[2], arguments(FINAL, "USER")

    assert ["install", "-d", "-m", "0700", "-o", user, folder] in list(commands(FINAL))
    assert arguments(FINAL, "VOLUME") == folder
    assert PurePosixPath(program).is_relative_to(arguments(FINAL, "COPY").split()[-1])


def test_the_environment_of_one_stage_is_what_the_other_takes():
    (venv,) = [words for words in commands(BUILD) if words[:3] == ["python3", "-m", "venv"]]

    assert arguments(FINAL, "COPY").split() == ["--from=build", venv[-1], venv[-1]]
    assert pip()[:3] == ["pip", "--python", venv[-1]]


def test_the_wheels_that_it_takes_are_those_of_a_build():
    pattern, place = arguments(BUILD, "COPY").split()
    wheels = {f"{each.name.replace('-', '_')}-{each.project['version']}-py3-none-any.whl" for each in distributions()}

    assert [wheel for wheel in wheels if not fnmatch(wheel, pattern)] == []
    assert pip()[-3:] == ["--find-links", place.rstrip("/"), "hyperkube"]
    assert "hyperkube" in {each.name for each in distributions()}


@pytest.mark.parametrize("cpu", ["x86_64", "aarch64"])
def test_what_has_no_wheel_for_musl_can_be_compiled(cpu):
    """A library that an index has as a source alone, for every platform, needs no compiler: it is Python."""
    lacking = {name for name, urls in locked().items() if urls and not any(cpu in runs_on_musl(url) for url in urls)}

    assert lacking == COMPILED.keys()
    assert packages(BUILD) == {"py3-pip"}.union(*COMPILED.values())
    text = (FOLDER / "Containerfile").read_text()
    assert [name for name in lacking if f"# {name} has no wheel for musl" not in text] == []


def test_the_libraries_that_were_linked_are_there_at_run_time():
    linked = {name.removesuffix("-dev") for name in packages(BUILD) if name.endswith("-dev")} - {"py3-pybind11"}

    assert packages(FINAL) == linked


def test_both_stages_are_of_one_release():
    assert {rest.split()[0] for stage in (BUILD, FINAL) for word, rest in stage if word == "FROM"} == {"alpine:3.22"}


def test_the_page_builds_from_this_file():
    (line,) = re.findall(r"^\$ podman build (.*)$", PAGE.read_text(), re.MULTILINE)
    words = shlex.split(line)

    assert (ROOT / words[words.index("--file") + 1]) == FOLDER / "Containerfile"
    assert f"./dev build {words[-1]}\n" in PAGE.read_text()
    assert f"podman build {line}\n" in (FOLDER / "Containerfile").read_text()
