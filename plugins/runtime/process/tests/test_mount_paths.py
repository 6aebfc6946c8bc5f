"""Mount paths and working folders lead nowhere that the container's user could not go."""

import os
from pathlib import Path

import pytest
from hyperkube_runtime.process.records import path_in_container

from hyperkube.hookspecs.runtime import RuntimeFailed

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run containers as another user")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/data", "/data"),
        ("data", "/data"),
        ("//data//x/", "/data/x"),
        ("/../../etc/x", "/etc/x"),
        ("/a/../../b", "/b"),
        ("/a/./b", "/a/b"),
    ],
)
def test_a_mount_path_has_nothing_above_the_root(path, expected):
    assert path_in_container(path) == expected


def test_a_mount_path_with_dots_plants_nothing_outside(run, tmp_path):
    source, outside = tmp_path / "source", tmp_path / "outside"
    source.touch()
    outside.mkdir()
    up = "/.." * 30

    _, output = run("true", mounts=({"host_path": str(source), "container_path": f"{up}{outside}/planted"},))

    assert output == ""
    assert list(outside.iterdir()) == []


def test_a_link_in_a_volume_leads_no_mount_out_of_it(run, tmp_path):
    volume, source, outside = tmp_path / "volume", tmp_path / "source", tmp_path / "outside"
    for folder in (volume, source, outside):
        folder.mkdir()
    (volume / "way").symlink_to(outside)

    run(
        "true",
        mounts=(
            {"host_path": str(volume), "container_path": "/data"},
            {"host_path": str(source), "container_path": "/data/way/planted"},
        ),
    )

    assert list(outside.iterdir()) == []
    assert [entry.name for entry in volume.iterdir()] == ["way"]


def test_a_volume_inside_another_one_is_there(run, runtime, tmp_path):
    if not runtime._fork_server.can_make_views():
        pytest.skip("this machine allows no private mounts")
    outer, inner = tmp_path / "outer", tmp_path / "inner"
    outer.mkdir()
    inner.mkdir()
    (inner / "key").write_text("value\n")

    status, output = run(
        "cat /data/a/b/key; echo new > /data/file",
        mounts=(
            {"host_path": str(outer), "container_path": "/data"},
            {"host_path": str(inner), "container_path": "/data/a/b"},
        ),
    )

    assert (status.exit_code, output) == (0, "value")
    assert (outer / "file").read_text() == "new\n"


@ROOT_ONLY
def test_a_working_folder_is_entered_as_the_containers_user(run, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir(mode=0o700)

    with pytest.raises(RuntimeFailed, match=r"chdir to cwd .* failed: permission denied"):
        run("true", working_dir=str(secret), security={"run_as_user": {"value": 70000}})


@ROOT_ONLY
def test_the_containers_own_folder_is_open_to_its_user(run):
    status, output = run("pwd", security={"run_as_user": {"value": 70000}})

    assert status.exit_code == 0
    assert Path(output).name == "rootfs"
