"""What the fuzz test sends byte by byte: heads, trailers, chunks, pipelines and frames, sound and not, by the thousand."""

from __future__ import annotations

from hypothesis import strategies as st

COUNTS = st.sampled_from([1, 2, 17, 500, 9_999, 10_001, 50_000])
LENGTHS = st.sampled_from([1, 100, 4095, 65_536, 1_048_570, 1_100_000])
CREDENTIALS = st.sampled_from(
    [b"", b"Authorization: Bearer token-admin\r\n", b"Authorization: Bearer " + b"x" * 20_000 + b"\r\n"]
)
NAMES = st.sampled_from(
    [b"a", b"Accept", b"Cookie", b"Authorization", b"Impersonate-User", b"X-Remote-Group", b"Content-Length", b"Host",
     b"Transfer-Encoding", b"Connection", b"Upgrade", b"Expect", b"Content-Type", b"x" * 300, b"\xff", b"a b", b""]
)  # fmt: skip
VALUES = st.sampled_from(
    [b"b", b"", b"chunked", b"h2c", b"websocket", b"Upgrade", b"100-continue", b"0", b"9" * 5000, b"-1", b"gzip", b"\x00",
     b"application/json;as=Table;g=meta.k8s.io;v=v1", b"a/b;q=0.1," * 300, b"system:masters", b"\xc3\xa9"]
)  # fmt: skip
MAPS = b"/api/v1/namespaces/a/configmaps"
TARGETS = st.sampled_from(
    [b"/", b"/readyz", b"/healthz?verbose", MAPS, MAPS + b"/m", MAPS + b"?watch=1&timeoutSeconds=1", b"/apis", b"*", b"//",
     MAPS + b"?limit=1", MAPS + b"?timeout=" + b"9" * 5000 + b"s", b"http://x/readyz", b"/%", b"/%00", b"/" + b"../" * 3000,
     b"/api/v1/namespaces/a/pods/x/exec?command=x", b"/openapi/v2", b"/version", b"/x?" + b"a&" * 9_000, b"/a" * 30_000]
)  # fmt: skip
VERSIONS = st.sampled_from(
    [b" HTTP/1.1"] * 8 + [b" HTTP/1.0", b" HTTP/2.0", b" HTTP/0.9", b"", b" HTTP/1.1 x", b" http/1.1"]
)
METHODS = st.sampled_from(
    [b"GET"] * 5 + [b"POST", b"PUT", b"PATCH", b"DELETE", b"HEAD", b"OPTIONS", b"BREW", b"CONNECT", b"PRI"]
)
BODIES = st.sampled_from(
    [b"", b"{}", b"x" * 1000, b"{" * 9000, b'{"metadata":{"generateName":"f-"}}', b"k8s\0" + b"\xff" * 90]
)


@st.composite
def heads(draw):
    """A request line and fields."""
    fields = b"".join(draw(NAMES) + b": " + draw(VALUES) + b"\r\n" for _ in range(draw(st.integers(0, 3))))
    if draw(st.integers(0, 3)) == 0:
        fields += (draw(NAMES) + b": " + draw(VALUES)[:20] + b"\r\n") * draw(COUNTS)
    if draw(st.integers(0, 5)) == 0:
        fields += b"Long: " + b"x" * draw(LENGTHS) + b"\r\n"
    line = draw(METHODS) + b" " + draw(TARGETS) + draw(VERSIONS) + b"\r\n"
    return line + draw(st.sampled_from([b"Host: x\r\n"] * 5 + [b""])) + draw(CREDENTIALS) + fields + b"\r\n"


@st.composite
def with_body(draw):
    """A request with a body of a known length, or more or less of it."""
    body = draw(BODIES)
    length = len(body) + draw(st.sampled_from([0, 0, 0, 1, -1, 10**9]))
    return (
        b"POST " + MAPS + b" HTTP/1.1\r\nHost: x\r\n" + draw(CREDENTIALS)
        + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % length + body
    )  # fmt: skip


@st.composite
def chunked(draw):
    """A request in chunks, of any size, with extensions and trailers."""
    head = b"POST " + MAPS + b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n"
    piece = draw(BODIES.filter(bool))
    extension = draw(st.sampled_from([b"", b"", b";a=b", b";" + b"x" * 3000]))
    chunks = (b"%x%s\r\n%s\r\n" % (len(piece), extension, piece)) * min(draw(COUNTS), 5000)
    trailers = (draw(NAMES) + b": " + draw(VALUES)[:30] + b"\r\n") * draw(COUNTS)
    if draw(st.booleans()):
        trailers = b"Long: " + b"x" * draw(LENGTHS) + b"\r\n"
    return head + draw(CREDENTIALS) + b"\r\n" + chunks + b"0\r\n" + draw(st.sampled_from([b"", trailers])) + b"\r\n"


def _frame(kind, payload=b""):
    size = bytes((0x80 | len(payload),)) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
    return bytes((kind,)) + size + b"\0\0\0\0" + payload


@st.composite
def frames(draw):
    """A watch over WebSocket, and frames that mean nothing to it."""
    head = (
        b"GET " + MAPS + b"?watch=1&timeoutSeconds=2 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token-admin\r\n"
        b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    kinds = st.sampled_from([0, 1, 2, 8, 9, 10, 0x80, 0x81, 0x82, 0x88, 0x89, 0x8A, 0x8F, 0xF1])
    payloads = st.sampled_from([b"", b"", b"x", b"\4{}", b"\xff\0", b"\xc3", b"x" * 125, b"x" * 60_000])
    sent = b""
    for _ in range(draw(st.integers(1, 3))):
        payload = draw(payloads)
        sent += _frame(draw(kinds), payload) * min(draw(COUNTS), 2_000_000 // (len(payload) + 6))
    return head + sent


hostile_bytes = st.one_of(
    heads(), heads(), with_body(), chunked(), frames(),
    st.tuples(st.one_of(heads(), with_body(), chunked()), st.sampled_from([2, 16, 100, 300])).map(
        lambda some: (some[0] * some[1])[:3_000_000]),
    st.binary(max_size=200),
)  # fmt: skip
