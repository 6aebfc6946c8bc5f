"""A request whose lines were read before is the same request as the parser makes of it."""

import pytest
from hyperkube_lib.serving.known_heads import KnownHeads

HEAD = b"\r\nHost: x\r\nAccept: a/b\r\n\r\n"


def told(seen):
    return [(one.method, one.path, one.raw_path, one.query_string, one.headers, one.repeated, one.body) for one in seen]


def heads_that_know(data):
    heads = KnownHeads()
    heads.learn(data, {"host": "x", "accept": "a/b"}, gzip=False)
    return heads


@pytest.mark.parametrize(
    "target",
    ["/", "/a/b", "/a%20b%2Fc", "/a?x=1&y=%20", "/a?", "/a?x=/?", "/a:b@c!$&'()*+,;=~_-.", "/a#f", '/a"b'],
)
@pytest.mark.parametrize("hot", [False, True], ids=["answered on a thread", "answered at once"])
def test_it_is_what_the_parser_makes_of_it(toy, edge, connect, target, hot):
    client = connect(edge)
    seen = toy.seen
    if hot:
        for path in ("/", "/a", "/a/b", "/a b/c"):
            toy.hot_routes[path] = toy.handle
    client.get(target, "Accept: a/b", "X-Two: 2")  # the parser reads it
    client.answer()
    client.get("/other", "Accept: a/b", "X-Two: 2")
    client.answer()
    client.get(target, "Accept: a/b", "X-Two: 2")  # its lines are known
    client.answer()

    first, other, again = told(seen)
    assert again == first
    assert other[4] == first[4]


def test_the_lines_of_one_connection_are_known_on_another(toy, edge, connect):
    for _ in range(3):
        client = connect(edge)
        client.get("/a", "Accept: a/b")
        client.answer()

    first, second, third = toy.seen
    assert first.head is None
    assert second.head is third.head is not None
    assert second.peer != third.peer


@pytest.mark.parametrize(
    "lines",
    [
        ("Accept: a", "Accept: b"),
        ("Connection: close",),
        ("Content-Length: 0",),
        ("Upgrade: h2c", "Connection: upgrade"),
    ],
    ids=["repeated", "close", "body", "upgrade"],
)
def test_what_says_how_to_read_on_is_left_to_the_parser(toy, edge, connect, lines):
    for _ in range(2):
        client = connect(edge)
        client.get("/a", *lines)
        client.answer()

    assert [one.head for one in toy.seen] == [None, None]


def test_a_request_in_pieces_between_known_ones_is_read_whole(toy, edge, connect):
    client = connect(edge)
    for _ in range(2):
        client.get("/a")
        client.answer()
    client.send(b"GET /b HT")
    client.send(b"TP/1.1\r\nHost: x\r\nX-More: 1\r\n\r\n")
    client.answer()
    client.get("/a")
    client.answer()

    assert [one.path for one in toy.seen] == ["/a", "/a", "/b", "/a"]


def test_two_known_requests_in_one_read_are_both_answered(toy, edge, connect):
    client = connect(edge)
    client.get("/a")
    client.answer()
    client.send(b"GET /b HTTP/1.1\r\nHost: x\r\n\r\nGET /c HTTP/1.1\r\nHost: x\r\n\r\n")

    assert [client.answer()[0], client.answer()[0]] == [200, 200]
    assert [one.path for one in toy.seen] == ["/a", "/b", "/c"]


@pytest.mark.parametrize(
    "line",
    [
        b"GET / HTTP/1.0",
        b"GET http://x/ HTTP/1.1",
        b"GET /\x00 HTTP/1.1",
        b"GET /\nX: y HTTP/1.1",
        b"GET / /b HTTP/1.1",
    ],
)
def test_other_first_lines_are_not_known(line):
    assert heads_that_know(b"GET / HTTP/1.1" + HEAD).find(line + HEAD) is None


def test_nothing_is_learnt_behind_a_first_line_that_ends_otherwise():
    heads = KnownHeads()
    heads.learn(b"GET / HTTP/1.1\nHost: x\r\nAccept: a/b\r\n\r\n", {"host": "x", "accept": "a/b"}, gzip=False)

    assert heads.find(b"GET / HTTP/1.1\r\nAccept: a/b\r\n\r\n") is None


def test_no_more_is_remembered_than_fits():
    heads = KnownHeads()
    for number in range(5000):
        data = b"GET /%d HTTP/1.1\r\nHost: %d\r\n\r\n" % (number, number)
        heads.learn(data, {"host": "x"}, gzip=False)

    assert heads.find(b"GET /1 HTTP/1.1\r\nHost: 1\r\n\r\n") is None
    assert heads.find(b"GET /1 HTTP/1.1\r\nHost: 4999\r\n\r\n") is not None
