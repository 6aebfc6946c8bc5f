"""Links of proxied pages, after upstream's ``transport_test.go``."""

import gzip
import zlib

import pytest
from hyperkube_host.apiserver.connect.proxied import Links, Prefix

PREFIX = Prefix("/proxy/node/n/10250", frozenset({"foo.com", "api.example"}))
HTML = ("Content-Type", "text/html; charset=utf-8")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        pytest.param("/logs/log.log", "/proxy/node/n/10250/logs/log.log", id="path"),
        pytest.param("/logs/", "/proxy/node/n/10250/logs/", id="slash-at-the-end"),
        pytest.param("/", "/proxy/node/n/10250/", id="root"),
        pytest.param("/a?q=1#here", "/proxy/node/n/10250/a?q=1#here", id="query-and-fragment"),
        pytest.param("kubelet.log", "kubelet.log", id="relative"),
        pytest.param("#top", "#top", id="fragment"),
        pytest.param("http://foo.com/a", "/proxy/node/n/10250/a", id="its-own-name"),
        pytest.param("https://api.example/a", "/proxy/node/n/10250/a", id="the-name-that-the-client-used"),
        pytest.param("http://other.com/a", "http://other.com/a", id="another-server"),
        pytest.param("//other.com/a", "//other.com/a", id="another-server-without-a-scheme"),
        pytest.param("/proxy/node/n/10250/a", "/proxy/node/n/10250/a", id="prefixed-already"),
        pytest.param("javascript:void(0);", "javascript:void(0);", id="no-place"),
        pytest.param("http://[broken/a", "http://[broken/a", id="unreadable"),
    ],
)
def test_a_url_that_leads_to_the_server_gets_the_prefix(url, shown):
    assert PREFIX.rewrite(url) == shown


PAGES = [
    pytest.param('<pre><a href="/l.log">l</a></pre>', '<pre><a href="{p}/l.log">l</a></pre>', id="link"),
    pytest.param("<A HREF='/x' id=i>", '<A HREF="{p}/x" id=i>', id="single-quotes-and-capitals"),
    pytest.param("<a href=/x>", '<a href="{p}/x">', id="without-quotes"),
    pytest.param('<a id="/x" href = "/y">', '<a id="/x" href = "{p}/y">', id="only-attributes-that-are-links"),
    pytest.param('<div href="/x">', '<div href="/x">', id="only-elements-that-have-links"),
    pytest.param(
        '<img src="/i" usemap="/m" alt="a > b"/>', '<img src="{p}/i" usemap="{p}/m" alt="a > b"/>', id="several"
    ),
    pytest.param('<a href="/x?a=1&amp;b=2">', '<a href="{p}/x?a=1&amp;b=2">', id="references"),
    pytest.param('<!-- <a href="/x"> -->', '<!-- <a href="/x"> -->', id="comment"),
    pytest.param(
        """<script src="/s">if (a<b) f('<a href="/x">')</script><a href="/y">""",
        """<script src="{p}/s">if (a<b) f('<a href="/x">')</script><a href="{p}/y">""",
        id="script",
    ),
    pytest.param("1 < 2 & </a> <!DOCTYPE html> <", "1 < 2 & </a> <!DOCTYPE html> <", id="no-tags"),
    pytest.param('<a href="/x', '<a href="/x', id="without-an-end"),
    pytest.param('é<a href="/é">', 'é<a href="{p}/é">', id="beyond-ascii"),
]


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(("page", "shown"), PAGES)
def test_links_of_pages_are_rewritten_however_they_are_cut(page, shown, size):
    links, data = Links(PREFIX.rewrite), page.encode()

    out = b"".join(links(data[at : at + size]) for at in range(0, len(data), size)) + links(b"")

    assert out.decode() == shown.format(p=PREFIX.path)


@pytest.mark.parametrize(
    ("encoding", "pack", "unpack"),
    [
        pytest.param("gzip", gzip.compress, gzip.decompress, id="gzip"),
        pytest.param(
            "deflate",
            lambda data: zlib.compress(data, wbits=-15),
            lambda data: zlib.decompress(data, -15),
            id="deflate",
        ),
    ],
)
def test_compressed_pages_are_rewritten_too(encoding, pack, unpack):
    data = pack(b'<a href="/x">')

    body = PREFIX.answered([HTML, ("Content-Encoding", encoding)]).body

    assert body is not None
    assert unpack(body(data[:5]) + body(data[5:]) + body(b"")) == b'<a href="/proxy/node/n/10250/x">'


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param([("Content-Type", "text/plain")], id="no-page"),
        pytest.param([HTML, ("Content-Encoding", "br")], id="unknown-encoding"),
    ],
)
def test_other_bodies_pass_as_they_are(headers):
    assert PREFIX.answered(headers).body is None


def test_locations_are_rewritten_and_permissions_for_other_origins_dropped():
    passed = PREFIX.answered([HTML, ("Location", "/moved"), ("Access-Control-Allow-Origin", "*"), ("X-A", "1")])

    assert passed.headers == [HTML, ("Location", "/proxy/node/n/10250/moved"), ("X-A", "1")]
    assert passed.body is None
