"""A request body that was read: its value, and what strict field validation has to say about how it was written."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from hyperkube_host.apiserver.resources.template_text import template_text
from hyperkube_lib.serving import json

from hyperkube.machinery.codecs import yaml
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema.compiled import CompiledSchema
from hyperkube.machinery.schema.mismatch import DecodeError, TypeMismatch, shown

_YAML_PREFIX = "yaml: unmarshal errors:\n"
_NUMBER = "number "
_NULL = b"null"
"""As a null is written, and an infinite number, which is none in Go."""
_KIND_STRUCT = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


@dataclass(slots=True)
class Document:
    """A body in JSON, YAML or protobuf.

    Attributes:
        body: as it came.
        value: what was read; `decode` takes it over.
        yaml_errors: duplicate keys of a YAML body, as one text or none.
        is_yaml: whether the body was YAML; JSON is YAML too, but its duplicates are reported by path.
        is_canonical: whether the value is decoded already, as that of a protobuf body is: it has no unknown members.
        refusal: why a protobuf body cannot be decoded.
    """

    body: bytes
    value: Any
    yaml_errors: list[str] = field(default_factory=list)
    is_yaml: bool = False
    is_canonical: bool = False
    refusal: DecodeError | None = None

    def kind(self) -> tuple[str, str]:
        """Return (apiVersion, kind) as the body gives them, empty where it does not.

        Raises:
            TypeMismatch: the body is no object, or one of the two is no text.
        """
        if self.value is None:
            return "", ""
        if not isinstance(self.value, dict):
            raise TypeMismatch(shown(self.value), _KIND_STRUCT)
        names = []
        for name in ("apiVersion", "kind"):
            value = self.value.get(name)
            if value is not None and not isinstance(value, str):
                mismatch = TypeMismatch(shown(value), "string")
                mismatch.inside("", name)
                raise mismatch
            names.append(value or "")
        return names[0], names[1]

    def decode(self, schema: CompiledSchema, *, report: bool = True) -> tuple[Object, list[str]]:
        """Decode the body by a schema, once.

        Returns:
            The object, and the strict errors in Kubernetes' order: those of YAML first, then ``unknown field`` and
            ``duplicate field`` by place. With `report` off they are not searched for.

        Raises:
            DecodeError: a value has the wrong type.
        """
        if self.refusal is not None:
            raise self.refusal
        if self.is_canonical:
            return self.value, []
        try:
            return self._decode(schema, report=report)
        except DecodeError as error:
            raise self._as_written(self._first_mismatch(schema, error)) from error

    def _first_mismatch(self, schema: CompiledSchema, found: DecodeError) -> DecodeError:
        """Return the mismatch that Go's decoder meets first: it goes by the document, which YAML has sorted."""
        members = self.value if isinstance(self.value, dict) else {}
        for name in sorted(members) if self.is_yaml else members:
            try:
                schema.decode({name: members[name]}, report=False)
            except DecodeError as error:
                return error
        return found

    def _as_written(self, error: DecodeError) -> DecodeError:
        """Let a mismatch show a number as the document writes it: ``1e400``, which Python reads as infinite."""
        if isinstance(error, TypeMismatch) and error.value.startswith(_NUMBER) and not self.is_yaml:
            read = error.value.removeprefix(_NUMBER)
            written = (literal for literal in json.literals(self.body) if str(float(literal)) == read)
            error.value = _NUMBER + next(written, read)
        return error

    def _decode(self, schema: CompiledSchema, *, report: bool) -> tuple[Object, list[str]]:
        if not report:
            return schema.decode(self.value, report=False)
        if self.has_duplicates():
            errors = schema.strict_errors(json.loads_members(self.body))
            return schema.decode(self.value, report=False)[0], errors
        obj, errors = schema.decode(self.value)
        return obj, self.yaml_errors + errors

    def duplicates(self) -> list[str]:
        """Return the strict errors for duplicates alone, for objects without a compiled schema."""
        if self.has_duplicates():
            return json.duplicate_fields(self.body)
        return list(self.yaml_errors)

    def has_duplicates(self) -> bool:
        """Tell whether JSON may name a member twice."""
        return not self.is_yaml and json.may_have_duplicates(self.body, self.value)

    def template_text(self) -> bytes | None:
        """Return what the object has in common with others of its template (see `template_text`).

        None if that is not plain: it is told before decoding, which may find that something is wrong.
        """
        value = self.value
        if (self.is_yaml and not self.is_canonical) or self.refusal is not None or value.__class__ is not dict:
            return None
        meta = value.get("metadata")
        if meta.__class__ is not dict or any(map(meta.get, ("uid", "creationTimestamp", "managedFields"))):
            return None
        name = meta.get("name")
        if (name.__class__ is not str and name is not None) or (not self.is_canonical and self.has_duplicates()):
            return None
        text = template_text(value)
        return text if text is not None and (self.is_canonical or _NULL not in text) else None


def read_json(body: bytes) -> Document:
    """Read a JSON body.

    Raises:
        JsonError: it is none.
    """
    return Document(body, json.loads(body))


def read_yaml(body: bytes) -> Document:
    """Read a YAML body.

    Raises:
        YamlError: it is none.
    """
    value, duplicates = yaml.loads(body)
    errors = [_YAML_PREFIX + "\n".join(f"  {text}" for text in duplicates)] if duplicates else []
    return Document(body, value, errors, is_yaml=True)


def as_warnings(errors: list[str]) -> list[str]:
    """Return strict errors as texts for ``Warning`` headers: those of YAML one by one, without their heading."""
    warnings: list[str] = []
    for error in errors:
        if error.startswith(_YAML_PREFIX):
            warnings += [line.strip() for line in error[len(_YAML_PREFIX) :].split("\n")]
        else:
            warnings.append(error)
    return warnings
