"""The blocks of a text in PEM, found as Go finds them, in one pass: such texts come from users, up to a megabyte long.

Source: Go ``encoding/pem`` (Decode).
"""

from __future__ import annotations

from collections.abc import Iterator

_BEGIN, _END, _DASHES = b"-----BEGIN ", b"-----END ", b"-----"


def split_pem(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the type of each block, and what stands between its first and its last line, headers included.

    What begins and has another beginning, or the end of another type, before its own end is no block.
    """
    begin, end = _line(data, _BEGIN, 0), -1
    while begin >= 0:
        start = data.find(b"\n", begin) + 1
        following = _line(data, _BEGIN, start) if start else -1
        if end < start:
            end = _line(data, _END, start)
        if not start or end < 0:
            return
        head = data[begin : start - 1].rstrip(b" \t\r")
        kind = head[len(_BEGIN) : -len(_DASHES)]
        is_one = head.endswith(_DASHES) and data.startswith(kind + _DASHES, end + len(_END))
        if is_one and not begin < following < end:
            yield kind.decode(errors="replace"), data[start:end]
        begin = following


def _line(data: bytes, mark: bytes, start: int) -> int:
    """Return where the first line from an offset on that begins with a mark is, -1 without one."""
    if not start and data.startswith(mark):
        return 0
    found = data.find(b"\n" + mark, max(start - 1, 0))
    return found + 1 if found >= 0 else -1
