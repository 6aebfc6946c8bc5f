"""Readers of messages as Go writes them: straight code, generated from a schema for which many messages come.

Go writes fields in the order of their numbers, those of a list or a map one after the other. So what may come next is
known all the time, and a reader needs neither a look-up of each tag nor any of the questions that the loop of
`message_reader` has to ask. Where a message is written in another way, or is none, that loop reads it from its
beginning: it decides, here is only the way that is nearly always taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import orjson
from hyperkube_lib.protobuf.message_members import INLINED, TIMES, Form, Member
from hyperkube_lib.protobuf.message_parts import LONGEST_REMEMBERED, Reader, long_text_entry, text_entry
from hyperkube_lib.protobuf.wire import BYTES, read_varint
from hyperkube_lib.protobuf.wire_scalars import INTEGERS, NUMBERS, read_number

from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.fields import KubeField, List, Map

_ONE_BYTE, _TWO_BYTES = 0x80, 0x4000
_UNTIL_END = "if at >= end: break"
_TAG = {1: "tag = data[at]", 2: "tag = data[at] | data[at + 1] << 8"}
"""What reads a tag, by its bytes; one of two is compared as it stands."""


def straight_reader(
    schema: type[KubeSchema],
    tags: Mapping[int, Member],
    required: Iterable[str],
    rebuild: Callable[[Object], Object],
    otherwise: Reader,
) -> Reader:
    """Return a reader that does what `otherwise` does.

    Args:
        schema: of the messages.
        tags: what each tag stands for.
        required: members that are in every object.
        rebuild: adds them, and brings all members in order.
        otherwise: reads what is not written as Go does.
    """
    known: dict[str, Any] = {
        "otherwise": otherwise,
        "rebuild": rebuild,
        "read_varint": read_varint,
        "read_number": read_number,
        "text_entry": text_entry,
        "long_text_entry": long_text_entry,
    }
    lines = _function([*_steps(schema, tags)], [*required], known)
    exec("\n".join(lines), known)  # noqa: S102  of what schemas declare
    read: Reader = known["read"]
    return read


class _Step:
    """The reading of one field: the code, and what it calls.

    Attributes:
        is_late: whether a field of a lower number is declared behind it.
    """

    def __init__(self, index: int, tag: int, member: Member, field: KubeField, *, is_late: bool) -> None:
        self.width = 1 if tag < _ONE_BYTE else 2
        self.tag = tag if self.width == 1 else tag & 0x7F | 0x80 | tag >> 7 << 8
        self.member = member
        self.field = field
        self.is_late = is_late
        self.call = f"read_{index}"

    @property
    def is_text_map(self) -> bool:
        return isinstance(self.field, Map) and self.field.items.scalar == "string"

    def lines(self) -> list[str]:
        """Return the code, which begins at the field's tag and ends at the next one."""
        unset = self.member.unset
        body = [
            *_BODIES[self.member.form](self),
            *([f"if data.startswith({unset!r}, at): at += {len(unset)}"] if unset else []),
            _UNTIL_END,
            _TAG[self.width],
        ]
        return [f"if tag == {self.tag}:", *_indented(body)]

    def store(self, value: str) -> str:
        """Return what gives the object its member."""
        return f"out[{self.member.name!r}] = {value}" + ("; is_ordered = False" if self.is_late else "")

    def length(self) -> list[str]:
        """Return what finds where a value begins and ends: `start` and `at`."""
        return [f"size = data[at + {self.width}]", *self.bounds()]

    def bounds(self) -> list[str]:
        """Return the same where the first byte of the length is known."""
        return [
            f"start = at + {self.width + 1}",
            f"if size >= {_ONE_BYTE}:",
            "    size, start = size - 0x80 + (data[start] << 7), start + 1",
            f"    if size >= {_TWO_BYTES}: size, start = read_varint(data, start - 2)",
            "at = start + size",
        ]

    def unless_empty(self, lines: list[str], empty: str = "") -> list[str]:
        """Return what reads a value; one that is empty is none, or is stored as `empty` says."""
        is_read = ["if size:", *_indented([*self.bounds(), *lines])]
        otherwise = f"else: at += {self.width + 1}" + (f"; {empty}" if empty else "")
        return [f"size = data[at + {self.width}]", *is_read, otherwise]

    def again(self, first: str, lines: list[str]) -> list[str]:
        """Return what reads a field that may come several times."""
        return [
            first,
            "while True:",
            *_indented(
                [
                    *self.length(),
                    _UNLESS_CUT,
                    *lines,
                    _UNTIL_END,
                    _TAG[self.width],
                    f"if tag != {self.tag}: break",
                ]
            ),
        ]


_UNLESS_CUT = "if at > end: return otherwise(data, begin, end)"
_TEXT_VALUE = 'str(data[start:at], "utf-8", "replace")'


def _text(step: _Step) -> list[str]:
    store = step.store(_TEXT_VALUE)
    return step.unless_empty([store]) if step.member.drops else [*step.length(), store]


def _value(step: _Step) -> list[str]:
    read = step.member.read
    lines, value = [*step.length(), _UNLESS_CUT], f"{step.call}.read(data, start, at)"
    if read.zero_size >= 0:
        is_zero = f"size == {read.zero_size} and data.startswith({read.zero!r}, start)"
        return [*lines, step.store(f"{orjson.loads(read.zero_json)!r} if {is_zero} else {value}")]
    return [*lines, f"value = {value}", f"if value is not None: {step.store('value')}"]


def _scalar(step: _Step) -> list[str]:
    store = step.store("value")
    lines = [
        _UNLESS_CUT,
        f"value = ({step.call} if size <= {LONGEST_REMEMBERED} else {step.call}.__wrapped__)(data[start:at])",
        store if step.member.keeps else f"if value is not None: {store}",
    ]
    if step.field.scalar in TIMES:
        return step.unless_empty(lines, step.store("None") if step.member.keeps else "")
    return [*step.length(), *lines]


def _number(step: _Step) -> list[str]:
    scalar = step.member.read
    by_call = f"value, at = read_number({scalar!r}, data, at + {step.width})"
    read = [by_call]
    if scalar in INTEGERS:
        short = f"if value < {_ONE_BYTE}: at += {step.width + 1}"
        read = [f"value = data[at + {step.width}]", short, f"else: {by_call}"]
    store = step.store("value != 0" if scalar == "bool" else "value")
    return [*read, store if step.member.keeps else f"if value: {store}"]


def _values(step: _Step) -> list[str]:
    value = _TEXT_VALUE if step.member.read is None else f"{step.call}.read(data, start, at)"
    return step.again(f"items = {step.store('[]')}", [f"items.append({value})"])


def _merged(step: _Step) -> list[str]:
    if step.member.place == INLINED:
        return [*step.length(), _UNLESS_CUT, f"{step.call}(out, data, start, at)", "is_ordered = False"]
    if not step.is_text_map:
        first = "is_ordered = False" if step.is_late else "pass"
        return step.again(first, [f"if {step.call}(out, data, start, at): return otherwise(data, begin, end)"])
    short = f"text_entry(data[start:at]) if size <= {LONGEST_REMEMBERED}"
    return step.again(
        f"before, items = None, {{}}; {step.store('items')}",
        [
            f"key, value = {short} else long_text_entry(data, start, at)",
            "if before is not None and key <= before: return otherwise(data, begin, end)",
            "items[key], before = value, key",
        ],
    )


_BODIES: dict[Form, Callable[[_Step], list[str]]] = {
    Form.TEXT: _text,
    Form.VALUE: _value,
    Form.SCALAR: _scalar,
    Form.NUMBER: _number,
    Form.VALUES: _values,
    Form.MERGED: _merged,
}


def _steps(schema: type[KubeSchema], tags: Mapping[int, Member]) -> Iterator[_Step]:
    """Yield the fields in the order of their numbers; lists of numbers are left to the loop."""
    fields = sorted((field for field in schema.declared().values() if field.number), key=attrgetter("number"))
    last = -1
    for index, field in enumerate(fields):
        tag = field.number << 3 | NUMBERS.get(field.scalar, BYTES)
        member = tags.get(tag)
        if member is None or tag >= _TWO_BYTES or (isinstance(field, List) and field.items.scalar in NUMBERS):
            continue
        yield _Step(index, tag, member, field, is_late=member.place < last)
        last = max(last, member.place)


def _function(steps: Sequence[_Step], required: Sequence[str], known: dict[str, Any]) -> list[str]:
    """Return the code of the reader, and add what it calls to `known`."""
    body: list[str] = []
    width, may_be_late = 1, any(step.is_late for step in steps)
    for step in steps:
        if step.width > width:
            body.append(_TAG[step.width])
            width = step.width
        body += step.lines()
        known[step.call] = step.member.read
    conditions = [f"{name!r} in out" for name in required] + (["is_ordered"] if may_be_late else [])
    return [
        "def read(data, at, end):",
        *_indented(
            [
                "out, begin, is_ordered = {}, at, True" if may_be_late else "out, begin = {}, at",
                "while at < end:",
                *_indented([_TAG[1], *body, "break"]),
                "if at != end: return otherwise(data, begin, end)",
                f"return out if {' and '.join(conditions)} else rebuild(out)" if conditions else "return out",
            ]
        ),
    ]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]
