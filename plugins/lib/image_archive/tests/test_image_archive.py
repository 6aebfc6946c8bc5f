"""Images as files: what the two formats' readers look at."""

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest
from hyperkube_lib.image_archive import Image, Layer, add_program, shared_libraries, write_docker_archive


def members(path):
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}


def fill(layer):
    layer.text("/etc/motd", "hello\n")
    layer.symlink("/bin/greet", "/etc/motd")


def image(**more):
    return Image(["docker.io/library/greeter:1"], fill, **more)


def test_the_configuration_names_the_layer_by_its_digest(tmp_path):
    write_docker_archive(tmp_path / "a.tar", [image(command=["/bin/greet"], environment={"A": "1"})])

    found = members(tmp_path / "a.tar")
    (entry,) = json.loads(found["manifest.json"])
    config = json.loads(found[entry["Config"]])
    assert entry["RepoTags"] == ["docker.io/library/greeter:1"]
    assert entry["Config"] == hashlib.sha256(found[entry["Config"]]).hexdigest() + ".json"
    assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(found[entry["Layers"][0]]).hexdigest()]
    assert config["config"] == {"Cmd": ["/bin/greet"], "Env": ["A=1"]}


def test_the_layer_has_the_files_and_their_folders(tmp_path):
    write_docker_archive(tmp_path / "a.tar", [image()])

    found = members(tmp_path / "a.tar")
    (entry,) = json.loads(found["manifest.json"])
    with tarfile.open(fileobj=io.BytesIO(found[entry["Layers"][0]])) as layer:
        assert [(member.name, member.type) for member in layer] == [
            ("etc", tarfile.DIRTYPE),
            ("etc/motd", tarfile.REGTYPE),
            ("bin", tarfile.DIRTYPE),
            ("bin/greet", tarfile.SYMTYPE),
        ]


def test_the_same_content_gives_the_same_bytes(tmp_path):
    for name in ("a.tar", "b.tar"):
        write_docker_archive(tmp_path / name, [image()])

    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()


def test_a_tree_leaves_out_what_it_is_told_to(tmp_path):
    (tmp_path / "tree/__pycache__").mkdir(parents=True)
    (tmp_path / "tree/__pycache__/a.pyc").write_text("x")
    (tmp_path / "tree/a.py").write_text("x")
    (tmp_path / "tree/b.py").symlink_to("a.py")

    with (tmp_path / "layer").open("w+b") as file:
        layer = Layer(file)
        layer.tree("/srv", tmp_path / "tree", frozenset({"__pycache__"}))
        layer.finish()

    with tarfile.open(tmp_path / "layer") as tar:
        assert [(member.name, member.linkname) for member in tar] == [
            ("srv", ""),
            ("srv/a.py", ""),
            ("srv/b.py", "a.py"),
        ]


def test_a_program_comes_with_its_libraries(tmp_path):
    with (tmp_path / "layer").open("w+b") as file:
        layer = Layer(file)
        add_program(layer, "ls", "/bin/ls")

        libraries = [str(library) for library in shared_libraries(Path("/bin/ls"))]
        assert any("libc.so" in library for library in libraries)
        assert all(path in layer for path in ["/bin/ls", *libraries])


def test_a_program_that_is_not_there_is_named(tmp_path):
    with (tmp_path / "layer").open("w+b") as file, pytest.raises(FileNotFoundError, match="no program 'no-such'"):
        add_program(Layer(file), "no-such")
