"""gitRepo volumes."""

import shutil
import subprocess
from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_lib.volume_mount import FakePrograms, Finished
from hyperkube_testing.node_contracts.volume import VolumeContract
from hyperkube_volume.git_repo import GitClones, GitRepo

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.plugin import PluginContext


class TestContract(VolumeContract):
    volume: ClassVar = {"gitRepo": {"repository": "https://example.com/r.git"}}

    def kind(self):
        return GitClones(FakePrograms(), enabled=True)


def test_without_its_gate_it_is_refused(tmp_path):
    kind = GitRepo(PluginContext(name="g")).volume_kinds()

    with pytest.raises(VolumeFailed, match="re-enabled by enabling the feature-gate `GitRepoVolumeDriver`"):
        kind.setup(TestContract().request(tmp_path / "v"))


@pytest.mark.parametrize("field", ["repository", "revision", "directory"])
def test_no_value_is_taken_for_a_flag(tmp_path, field):
    volume = {"name": "v", "gitRepo": {"repository": "r", field: "--upload-pack=x"}}

    with pytest.raises(VolumeFailed, match=f'"--upload-pack=x" is an invalid value for {field}'):
        GitClones(FakePrograms(), enabled=True).setup(TestContract().request(tmp_path / "v", volume))


def test_a_failure_is_told_and_tried_again(tmp_path):
    programs = FakePrograms({"git": Finished(128, "no such repository")})
    kind, request = GitClones(programs, enabled=True), TestContract().request(tmp_path / "v")
    with pytest.raises(VolumeFailed, match="no such repository: exit status 128"):
        kind.setup(request)
    programs.answers = {}

    folder = kind.setup(request)

    assert programs.ran[-1] == f"git -C {folder} clone -- https://example.com/r.git"


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
def test_a_revision_is_checked_out(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    who = ["-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false"]
    for line in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "one"], ["tag", "v1"]):
        subprocess.run(["git", "-C", str(source), *line], check=True)
    volume = {"name": "v", "gitRepo": {"repository": str(source), "revision": "v1", "directory": "here"}}

    folder = GitClones(enabled=True).setup(TestContract().request(tmp_path / "v", volume))

    assert (Path(folder) / "here" / ".git").is_dir()
