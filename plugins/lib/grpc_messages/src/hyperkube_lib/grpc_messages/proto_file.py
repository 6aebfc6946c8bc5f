"""Reads proto3 files: messages, enumerations, oneofs, maps, nested types, services; no options but ``deprecated``.

Source of the grammar: https://protobuf.dev/reference/protobuf/proto3-spec/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from google.protobuf import descriptor_pb2

_Field = descriptor_pb2.FieldDescriptorProto
_TOKEN = re.compile(r'//[^\n]*|\s+|("[^"]*"|[A-Za-z_][\w.]*|\d+|[{}()<>\[\]=;,])')
_SCALARS = {
    name: getattr(_Field, f"TYPE_{name.upper()}")
    for name in ("string", "bool", "bytes", "double", "float", "int32", "int64", "uint32", "uint64")
}


class ProtoFileError(ValueError):
    """A file that cannot be read; the message names the token."""


def read_proto(name: str, text: str) -> descriptor_pb2.FileDescriptorProto:
    """Return the descriptor of a proto3 file.

    Args:
        name: what the descriptor is called; unique in its pool.
        text: the content of the file.

    Raises:
        ProtoFileError: the text is not of the supported part of proto3.
    """
    file = descriptor_pb2.FileDescriptorProto(name=name)
    _Reader(_tokens(text), file).read()
    _resolve(file)
    return file


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ProtoFileError(f"unexpected character {text[position]!r}")
        position = match.end()
        if match.group(1) is not None:
            yield match.group(1)


class _Reader:
    """Reads declarations, one token ahead at most."""

    def __init__(self, tokens: Iterator[str], file: descriptor_pb2.FileDescriptorProto) -> None:
        self._tokens = tokens
        self._file = file

    def read(self) -> None:
        for word in self._tokens:
            if word == "syntax":
                self._file.syntax = self._setting()
            elif word == "package":
                self._file.package = self._until(";")[0]
            elif word == "import":
                self._file.dependency.append(self._until(";")[0].strip('"'))
            elif word == "message":
                self._message(self._file.message_type.add())
            elif word == "enum":
                self._enum(self._file.enum_type.add())
            elif word == "service":
                self._service(self._file.service.add())
            else:
                raise ProtoFileError(f"unexpected {word!r}")

    def _next(self) -> str:
        word = next(self._tokens, None)
        if word is None:
            raise ProtoFileError("unexpected end of the file")
        return word

    def _expect(self, wanted: str) -> None:
        word = self._next()
        if word != wanted:
            raise ProtoFileError(f"{wanted!r} expected, not {word!r}")

    def _until(self, end: str) -> list[str]:
        return list(iter(self._next, end))

    def _setting(self) -> str:
        self._expect("=")
        return self._until(";")[0].strip('"')

    def _message(self, message: descriptor_pb2.DescriptorProto) -> None:
        message.name = self._next()
        self._expect("{")
        for word in iter(self._next, "}"):
            if word == "message":
                self._message(message.nested_type.add())
            elif word == "enum":
                self._enum(message.enum_type.add())
            elif word == "oneof":
                message.oneof_decl.add(name=self._next())
                index = len(message.oneof_decl) - 1
                self._expect("{")
                for kind in iter(self._next, "}"):
                    self._field(message, kind).oneof_index = index
            else:
                self._field(message, word)

    def _field(self, message: descriptor_pb2.DescriptorProto, word: str) -> Any:
        field = message.field.add(label=_Field.LABEL_OPTIONAL)
        if word == "map":
            _, key, _, value, _, field.name = (self._next() for _ in range(6))
            field.label = _Field.LABEL_REPEATED
            entry = message.nested_type.add(name="".join(p.title() for p in field.name.split("_")) + "Entry")
            entry.options.map_entry = True
            for number, (part, kind) in enumerate((("key", key), ("value", value)), 1):
                _set_type(entry.field.add(name=part, number=number, label=_Field.LABEL_OPTIONAL), kind)
            _set_type(field, f"{message.name}.{entry.name}")
        else:
            kind = self._next() if word in {"repeated", "optional"} else word
            if word == "repeated":
                field.label = _Field.LABEL_REPEATED
            field.name = self._next()
            _set_type(field, kind)
            if word == "optional":  # presence in proto3 is a oneof with a single member
                field.proto3_optional = True
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")
        self._expect("=")
        number_text, *options = self._until(";")
        field.number = int(number_text)
        if "deprecated" in options:
            field.options.deprecated = True
        return field

    def _enum(self, enum: descriptor_pb2.EnumDescriptorProto) -> None:
        enum.name = self._next()
        self._expect("{")
        for word in iter(self._next, "}"):
            enum.value.add(name=word, number=int(self._setting()))

    def _service(self, service: descriptor_pb2.ServiceDescriptorProto) -> None:
        service.name = self._next()
        self._expect("{")
        for word in iter(self._next, "}"):
            if word != "rpc":
                raise ProtoFileError(f"'rpc' expected, not {word!r}")
            method = service.method.add(name=self._next())
            method.input_type, method.client_streaming = self._argument()
            self._expect("returns")
            method.output_type, method.server_streaming = self._argument()
            self._expect(";")

    def _argument(self) -> tuple[str, bool]:
        self._expect("(")
        words = self._until(")")
        return words[-1], words[0] == "stream" and len(words) > 1


def _set_type(field: Any, kind: str) -> None:
    """Note the type of a field; those of messages and enumerations are told apart by `_resolve`."""
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type_name = kind


def _resolve(file: descriptor_pb2.FileDescriptorProto) -> None:
    """Give every reference its full name and say whether it is a message or an enumeration."""
    enums: set[str] = {f"{file.package}.{enum.name}" for enum in file.enum_type}
    messages: set[str] = set()
    for message in file.message_type:
        _collect(message, file.package, messages, enums)
    known = messages | enums
    for message in file.message_type:
        _resolve_fields(message, file.package, known, enums)
    for service in file.service:
        for method in service.method:
            method.input_type = "." + _full_name(method.input_type, file.package, known)
            method.output_type = "." + _full_name(method.output_type, file.package, known)


def _collect(message: descriptor_pb2.DescriptorProto, scope: str, messages: set[str], enums: set[str]) -> None:
    """Add the full names of a message and of all that is declared inside it."""
    own = f"{scope}.{message.name}"
    messages.add(own)
    enums.update(f"{own}.{enum.name}" for enum in message.enum_type)
    for nested in message.nested_type:
        _collect(nested, own, messages, enums)


def _full_name(name: str, scope: str, known: set[str]) -> str:
    """Return what a name means in a scope: as for protoc, the innermost scope that has it wins."""
    while scope:
        if f"{scope}.{name}" in known:
            return f"{scope}.{name}"
        scope = scope.rpartition(".")[0]
    return name  # of an imported file, and complete


def _resolve_fields(message: descriptor_pb2.DescriptorProto, scope: str, known: set[str], enums: set[str]) -> None:
    own = f"{scope}.{message.name}"
    for field in message.field:
        if field.type_name:
            name = _full_name(field.type_name, own, known)
            field.type = _Field.TYPE_ENUM if name in enums else _Field.TYPE_MESSAGE
            field.type_name = f".{name}"
    for nested in message.nested_type:
        _resolve_fields(nested, own, known, enums)
