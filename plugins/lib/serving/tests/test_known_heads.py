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


def test_a_first_line_that_comes_once_takes_no_place():
    heads = heads_that_know(b"GET /a HTTP/1.1" + HEAD)

    for number in range(100):
        assert heads.find(f"GET /a/{number} HTTP/1.1".encode() + HEAD)
    # The second time, or the third where another line has taken its place in the note of what has come.
    *_, third, fourth = (heads.find(b"GET /a/7 HTTP/1.1" + HEAD) for _ in range(4))

    assert third.target is fourth.target
    assert len(heads._lines) == 1


def test_no_more_is_remembered_than_fits():
    heads = KnownHeads()
    for number in range(10_000):
        data = b"GET /%d HTTP/1.1\r\nHost: %d\r\n\r\n" % (number, number)
        heads.learn(data, {"host": "x"}, gzip=False)

    assert heads.find(b"GET /1 HTTP/1.1\r\nHost: 1\r\n\r\n") is None
    assert heads.find(b"GET /1 HTTP/1.1\r\nHost: 9999\r\n\r\n") is not None


def write(client, method, path, body, *lines):
    head = [f"{method} {path} HTTP/1.1", "Host: x", *lines, f"Content-Length: {len(body)}", "Accept: a/b", "", ""]
    client.send("\r\n".join(head).encode() + body)
    return client.answer()


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_write_is_what_the_parser_makes_of_it_whatever_its_length(toy, edge, connect, method):
    client = connect(edge)

    answers = [write(client, method, f"/a%20b?x={number}", b"x" * number) for number in (5, 0, 5, 1234)]

    assert [body for _, _, body in answers] == [b"echo " + b"x" * number for number in (5, 0, 5, 1234)]
    assert [(one.method, one.path, one.query_string) for one in toy.seen] == [
        (method, "/a b", f"x={number}") for number in (5, 0, 5, 1234)
    ]
    assert [one.headers["content-length"] for one in toy.seen] == ["5", "0", "5", "1234"]
    assert [one.head is None for one in toy.seen] == [True, False, False, False]


def test_a_first_line_is_shared_by_the_requests_that_begin_with_it(toy, edge, connect):
    client = connect(edge)
    for _ in range(3):
        write(client, "POST", "/a", b"one")

    assert toy.seen[1].line is toy.seen[2].line is not None


@pytest.mark.parametrize("cut", [0, 7], ids=["behind the head", "in the body"])
def test_a_write_in_pieces_is_left_to_the_parser(toy, edge, connect, cut):
    client = connect(edge)
    write(client, "POST", "/a", b"x" * 20)
    head = b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\nAccept: a/b\r\n\r\n"
    client.send(head + b"x" * cut)
    client.send(b"x" * (20 - cut))
    client.answer()

    assert [one.body for one in toy.seen] == [b"x" * 20, b"x" * 20]


def test_two_writes_in_one_read_are_left_to_the_parser(toy, edge, connect):
    client = connect(edge)
    write(client, "POST", "/a", b"one")
    whole = b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nAccept: a/b\r\n\r\n"
    client.send(whole + b"two" + whole + b"six")

    assert [client.answer()[2], client.answer()[2]] == [b"echo two", b"echo six"]
    assert [one.head for one in toy.seen] == [None, None, None]


@pytest.mark.parametrize(
    "lines",
    [("Transfer-Encoding: chunked",), ("Expect: 100-continue",), ("Connection: close",), ("Upgrade: h2c",)],
    ids=["chunks", "invited", "close", "upgrade"],
)
def test_lines_of_a_write_that_say_more_than_a_length_are_not_known(lines):
    heads = KnownHeads()
    names = {line.partition(":")[0].lower(): line.partition(": ")[2] for line in lines}
    data = "\r\n".join(["POST / HTTP/1.1", "Host: x", *lines, "Content-Length: 1", "", "y"]).encode()
    heads.learn(data, {"host": "x", **names, "content-length": "1"}, gzip=False)

    assert heads.find(data) is None


def test_where_the_parser_has_seen_another_end_of_the_head_nothing_is_learnt():
    heads = KnownHeads()
    # Read with bare line feeds, the head ends before "ab" and the body has seven bytes.
    data = b"POST / HTTP/1.1\r\nContent-Length: 7\r\nX: y\n\nab\r\n\r\nc"
    heads.learn(data, {"content-length": "7", "x": "y"}, gzip=False)

    assert heads.find(b"POST / HTTP/1.1\r\nContent-Length: 1\r\nX: y\n\nab\r\n\r\nc") is None


@pytest.mark.parametrize("length", [b"-1", b"+1", b"0x1", b"1_0", b"", b" 1", b"9" * 10])
def test_a_length_that_is_no_number_is_left_to_the_parser(length):
    heads = KnownHeads()
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %s\r\n\r\n"
    heads.learn(head % b"1" + b"y", {"host": "x", "content-length": "1"}, gzip=False)

    assert heads.find(head % b"1" + b"z").body == b"z"
    assert heads.find(head % length + b"y") is None


def test_a_body_that_stays_open_is_left_to_the_parser(toy, edge, connect):
    toy.long_running.add("/open")
    client = connect(edge)
    write(client, "POST", "/a", b"one")
    write(client, "POST", "/open", b"one")

    assert toy.seen[0].body == b"one"
    assert (toy.seen[1].body, toy.seen[1].head) == (b"", None)


def test_lines_that_were_forgotten_are_learnt_again():
    data = b"GET /a HTTP/1.1" + HEAD
    heads = heads_that_know(data)

    heads.forget()

    assert heads.find(data) is None
    heads.learn(data, {"host": "x", "accept": "a/b"}, gzip=False)
    assert heads.find(data).target.path == "/a"
