"""The node's log folder over HTTP."""

import os
import tracemalloc
from pathlib import Path

import pytest
from hyperkube_host.kubelet.server import node_logs as module
from hyperkube_host.kubelet.server.node_logs import node_logs

from hyperkube.machinery.errors import NotFound


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "log"
    (root / "pods").mkdir(parents=True)
    (root / "pods" / "a.log").write_text("one\ntwo\n")
    (tmp_path / "secret").write_text("secret")
    return root


def text(answer):
    content = b""
    while (pieces := answer.source.drain()) is not None:
        content += b"".join(pieces)
    answer.source.close()
    return content.decode()


def test_files_and_names_are_shown(root):
    (root / "<b>").touch()

    assert text(node_logs(root, ["pods", "a.log"])) == "one\ntwo\n"
    assert node_logs(root, []).body == (
        b'<pre>\n<a href="&lt;b&gt;">&lt;b&gt;</a>\n<a href="pods/">pods/</a>\n</pre>\n'
    )


@pytest.mark.parametrize(
    "parts",
    [["nosuch"], ["..", "secret"], ["pods", "..", "..", "secret"], ["/etc/passwd"], ["link"], ["way", "secret"], ["a\0b"],
     ["pipe"], ["x" * 5000], ["pods", "a.log", "x"]],
)  # fmt: skip
def test_what_lies_elsewhere_or_is_no_file_is_not_there(root, parts):
    (root / "link").symlink_to(root.parent / "secret")
    (root / "way").symlink_to(root.parent)
    os.mkfifo(root / "pipe")

    with pytest.raises(NotFound):
        node_logs(root, parts)


def test_a_folder_that_becomes_a_link_in_between_leads_nowhere(root, monkeypatch):
    (root.parent / "a.log").write_text("secret")
    opened = os.open

    def swapped(path, flags):
        (root / "pods").rename(root / "old")
        (root / "pods").symlink_to(root.parent)
        return opened(path, flags)

    monkeypatch.setattr(module.os, "open", swapped)
    before = len(list(Path("/proc/self/fd").iterdir()))

    with pytest.raises(NotFound):
        node_logs(root, ["pods", "a.log"])

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_large_file_takes_no_memory(root):
    with (root / "large").open("wb") as file:
        file.truncate(200 << 20)
    answer, size = node_logs(root, ["large"]), 0
    answer.source.subscribe(lambda: None)

    tracemalloc.start()
    while (pieces := answer.source.drain()) is not None:
        size += sum(map(len, pieces))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    answer.source.close()

    assert size == 200 << 20
    assert peak < 8 << 20


def test_a_file_that_grows_ends_where_it_ended(root):
    answer = node_logs(root, ["pods", "a.log"])
    with (root / "pods" / "a.log").open("a") as file:
        file.write("three\n")

    assert text(answer) == "one\ntwo\n"
