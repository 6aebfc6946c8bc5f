"""Answers of proxied servers: where they say how to reach themselves, the way through the proxy is put before it.

A server behind a proxy does not know the path under which clients see it. So links of HTML pages and ``Location``
headers that lead to that server get the proxy's path in front. Whom the server lets read its answers across origins is
not for this server's clients.
Source: kubernetes apimachinery ``pkg/util/proxy/{transport,upgradeaware}.go``.
"""

from __future__ import annotations

import posixpath
import re
import zlib
from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

from hyperkube_lib.serving.exchange import Passed

from hyperkube.machinery.dataclass import dataclass

_ATTRIBUTES = {
    "a": ("href",), "applet": ("codebase",), "area": ("href",), "audio": ("src",), "base": ("href",),
    "blockquote": ("cite",), "body": ("background",), "button": ("formaction",), "command": ("icon",),
    "del": ("cite",), "embed": ("src",), "form": ("action",), "frame": ("longdesc", "src"), "head": ("profile",),
    "html": ("manifest",), "iframe": ("longdesc", "src"), "img": ("longdesc", "src", "usemap"),
    "input": ("src", "usemap", "formaction"), "ins": ("cite",), "link": ("href",),
    "object": ("classid", "codebase", "data", "usemap"), "q": ("cite",), "script": ("src",), "source": ("src",),
    "video": ("poster", "src"),
}  # fmt: skip
_RAW_TEXT = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"})
_CORS = frozenset(f"access-control-allow-{name}" for name in ("credentials", "headers", "methods", "origin"))
_TAG = re.compile(r"""<([A-Za-z][^\s/>]*+)((?:[^>"']++|"[^"]*+"|'[^']*+')*+)>""")
_ATTRIBUTE = re.compile(r"""([^\s=/>"'][^\s=/>]*+)(\s*=\s*)("[^"]*+"|'[^']*+'|[^\s>"']++)""")
_EXPANDED_MAX = 8 << 20
"""Bytes that one piece of a compressed page may become: what is made of it is made on the edge's thread."""
_PENDING_MAX = 1 << 20
"""Characters of a tag or comment without an end that are held back; more are passed on as they are."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """The way through the proxy.

    Attributes:
        path: the path of the proxy, without a slash at its end.
        hosts: the names by which the proxied server may mean itself: its own, and the one that the client used.
    """

    path: str
    hosts: frozenset[str]

    def rewrite(self, url: str) -> str:
        """Return the URL as the client reaches it; one of another server and a relative one stay as they are."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return url
        if (parts.netloc and parts.netloc not in self.hosts) or not parts.path.startswith("/"):
            return url
        path = parts.path
        if not path.startswith(self.path):
            path = posixpath.normpath(f"{self.path}/{path}")
            if parts.path.endswith("/"):
                path += "/"
        return urlunsplit(("", "", path, parts.query, parts.fragment))

    def answered(self, headers: list[tuple[str, str]]) -> Passed:
        """Return the headers that are passed back to the client, and what its body goes through."""
        kept = [pair for pair in headers if pair[0].lower() not in _CORS]
        fields = {name.lower(): value for name, value in kept}
        if fields.get("location"):
            shown = [(name, self.rewrite(value) if name.lower() == "location" else value) for name, value in kept]
            return Passed(shown)
        if fields.get("content-type", "").partition(";")[0].strip() != "text/html":
            return Passed(kept)
        codec = _CODECS.get(fields.get("content-encoding", ""))
        return Passed(kept, None if codec is None else codec(Links(self.rewrite)))


class Links:
    """Rewrites the links of a page that comes in pieces; everything else passes byte by byte."""

    def __init__(self, rewrite: Callable[[str], str]) -> None:
        self._rewrite = rewrite
        self._pending = ""
        self._inside = ""

    def __call__(self, piece: bytes) -> bytes:
        """Return what can be passed on by now; an empty piece ends the page."""
        # All that matters is ASCII: any encoding that contains it passes through Latin-1 unharmed.
        text, self._pending = self._pending + piece.decode("latin-1"), ""
        out: list[str] = []
        at = 0
        while at < len(text):
            end, shown = self._next(text, at)
            if end > at:
                out.append(shown)
                at = end
            elif piece and len(text) - at < _PENDING_MAX:
                self._pending = text[at:]
                break
            else:
                out.append(text[at:])
                break
        return "".join(out).encode("latin-1", "xmlcharrefreplace")

    def _next(self, text: str, at: int) -> tuple[int, str]:
        """Return the end of what stands there, and how it is passed on; the same place if its end has not come yet."""
        if self._inside:
            return self._raw_text(text, at)
        opened = text.find("<", at)
        if opened != at:
            end = len(text) if opened < 0 else opened
            return end, text[at:end]
        if text.startswith("<!--", at):
            end = text.find("-->", at + 4) + 3
            return (end, text[at:end]) if end > 2 else (at, "")
        if at + 1 < len(text) and not text[at + 1].isalpha() and len(text) - at >= len("<!--"):
            return at + 1, "<"
        tag = _TAG.match(text, at)
        if tag is None:
            return at, ""
        return tag.end(), self._tag(tag)

    def _raw_text(self, text: str, at: int) -> tuple[int, str]:
        """Pass on what stands in an element whose text holds no tags, up to its own end."""
        close = f"</{self._inside}"
        found = text.lower().find(close, at)
        if found >= 0:
            self._inside = ""
            return found + len(close), text[at : found + len(close)]
        end = max(at, len(text) - len(close) + 1)
        return end, text[at:end]

    def _tag(self, tag: re.Match[str]) -> str:
        name = tag[1].lower()
        if name in _RAW_TEXT and not tag[2].endswith("/"):
            self._inside = name
        wanted = _ATTRIBUTES.get(name)
        if wanted is None:
            return tag[0]

        import html  # its table of entities takes a third of a megabyte

        def attribute(found: re.Match[str]) -> str:
            value = found[3]
            old = html.unescape(value[1:-1] if value[0] in "\"'" else value)
            new = self._rewrite(old) if found[1].lower() in wanted else old
            return found[0] if new == old else f'{found[1]}{found[2]}"{html.escape(new)}"'

        return f"<{tag[1]}{_ATTRIBUTE.sub(attribute, tag[2])}>"


class _Compressed:
    """Rewrites the links of a compressed page."""

    def __init__(self, links: Links, bits: int) -> None:
        self._links = links
        self._from = zlib.decompressobj(bits)
        self._to = zlib.compressobj(wbits=bits)

    def __call__(self, piece: bytes) -> bytes:
        text = self._from.decompress(piece, _EXPANDED_MAX) if piece else self._from.flush()
        if self._from.unconsumed_tail:
            raise ValueError("a compressed page grows beyond all pages")  # the relay ends it as broken
        shown = self._links(text) if text else b""
        if piece:
            return self._to.compress(shown)
        return self._to.compress(shown + self._links(b"")) + self._to.flush()


_CODECS: dict[str, Callable[[Links], Callable[[bytes], bytes]]] = {
    "": lambda links: links,
    "gzip": lambda links: _Compressed(links, zlib.MAX_WBITS | 16),
    "deflate": lambda links: _Compressed(links, -zlib.MAX_WBITS),
}
