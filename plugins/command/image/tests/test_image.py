"""Images of a node's runtime, from the command line."""

from types import SimpleNamespace

from click.testing import CliRunner
from hyperkube_command.image import command as module

from hyperkube.machinery.errors import UsageError


def test_images_are_listed_by_tag(monkeypatch):
    image = SimpleNamespace(id="sha256:" + "a" * 64, size=12, tags=("host:latest", "host"))
    monkeypatch.setattr(module, "_runtime", lambda name, folder: SimpleNamespace(images=lambda: [image]))

    lines = CliRunner().invoke(module.command, ["ls"]).output.splitlines()

    assert lines[0].split() == ["IMAGE", "ID", "SIZE"]
    assert [line.split() for line in lines[1:]] == [
        ["host:latest", "sha256:aaaaaaaaaaaa", "12"],
        ["host", "sha256:aaaaaaaaaaaa", "12"],
    ]


def test_a_runtime_without_images_refuses_to_load_one(tmp_path):
    archive = tmp_path / "a.tar"
    archive.touch()

    result = CliRunner().invoke(module.command, ["load", str(archive)])

    assert isinstance(result.exception, UsageError)
    assert "keeps no images" in str(result.exception)
