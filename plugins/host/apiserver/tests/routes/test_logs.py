"""The machine's log files: listed, given whole, and nothing beside them."""

import time

import pytest
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import parse
from hyperkube_host.apiserver.routes.logs import MachineLogs

from hyperkube.machinery.errors import MethodNotAllowed
from hyperkube.machinery.users import LOOPBACK

BIG = bytes(range(256)) * 4096


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "log"
    (folder / "pods").mkdir(parents=True)
    (folder / "a b<.log").write_text("one\n")
    (folder / "pods" / "big.log").write_bytes(BIG)
    (tmp_path / "secret").write_text("hidden")
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "in").symlink_to(folder / "pods" / "big.log")
    return MachineLogs(folder)


def ask(logs, path, method="GET"):
    return logs.answer(ApiRequest(method=method, path=path, info=parse(method, path, {}), user=LOOPBACK))


def whole(answer):
    """Read a streamed body to its end, within a minute."""
    rung, pieces, until = [], [], time.monotonic() + 60
    answer.source.subscribe(lambda: rung.append(1))
    while time.monotonic() < until:
        piece = answer.source.drain()
        if piece is None:
            answer.source.close()
            return b"".join(pieces)
        pieces += piece
        if not piece:
            time.sleep(0.002)
    raise AssertionError("the body does not end")


def test_a_folder_is_listed_with_links(logs):
    answer = ask(logs, "/logs/")

    assert answer.headers == [("Content-Type", "text/html; charset=utf-8")]
    assert answer.body.decode().splitlines() == [
        "<pre>",
        '<a href="a%20b%3C.log">a b&lt;.log</a>',
        '<a href="in">in</a>',
        '<a href="out">out</a>',
        '<a href="pods/">pods/</a>',
        "</pre>",
    ]


@pytest.mark.parametrize(("path", "body"), [("a b<.log", b"one\n"), ("pods/big.log", BIG), ("in", BIG)])
def test_a_file_is_given_whole(logs, path, body):
    assert whole(ask(logs, f"/logs/{path}")) == body


@pytest.mark.parametrize("path", ["none", "../secret", "pods/../../secret", "out", "/etc/passwd", "a\0b"])
def test_nothing_beside_the_folder_is_given(logs, path):
    assert ask(logs, f"/logs/{path}").status == 404


def test_the_bare_path_leads_to_the_list(logs):
    answer = ask(logs, "/logs")

    assert (answer.status, answer.headers) == (301, [("Location", "/logs/")])


def test_other_paths_are_not_its_own(logs):
    assert ask(logs, "/logsx") is None


def test_logs_are_only_read(logs):
    with pytest.raises(MethodNotAllowed):
        ask(logs, "/logs/in", "POST")
