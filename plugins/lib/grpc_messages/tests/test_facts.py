"""Every proto file of the tree says what the facts say: names, numbers, types, streams."""

import json
from pathlib import Path

import pytest
from google.protobuf.descriptor import FieldDescriptor
from hyperkube_lib.grpc_messages import Schema

ROOT = Path(__file__).parents[4]
FACTS = ROOT.parent / "shared/spec/grpc"
FILES = sorted(path for path in (ROOT / "plugins").rglob("*.proto") if (FACTS / f"{path.stem}.json").exists())
SCALARS = {
    number: name.removeprefix("TYPE_").lower() for name, number in vars(FieldDescriptor).items() if "TYPE_" in name[:5]
}


def field_fact(field, package):
    kind = field.message_type
    fact = {"n": field.number}
    if kind is not None and kind.GetOptions().map_entry:
        return fact | {"map": [type_name(kind.fields_by_name[part], package) for part in ("key", "value")]}
    fact["type"] = type_name(field, package)
    return fact | ({"repeated": True} if field.is_repeated else {})


def type_name(field, package):
    target = field.message_type or field.enum_type
    return target.full_name if target is not None else SCALARS[field.type]


@pytest.mark.skipif(not FILES, reason="no facts beside the tree")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_proto_file_says_what_the_facts_say(path):
    facts = json.loads((FACTS / f"{path.stem}.json").read_text())
    schema = Schema(path.name, path.read_text())

    for name, fields in facts["messages"].items():
        found = {f.name: field_fact(f, facts["package"]) for f in schema.message(name).DESCRIPTOR.fields}
        wanted = {
            field: {key: value for key, value in fact.items() if key in {"n", "type", "map", "repeated"}}
            for field, fact in fields.items()
        }
        assert found == wanted, name
    for name, methods in facts["services"].items():
        found = {
            m.name: (m.request.DESCRIPTOR.name, m.response.DESCRIPTOR.name, m.server_streaming)
            for m in schema.service(name).methods.values()
        }
        assert found == {k: (m["in"], m["out"], m.get("serverStream", False)) for k, m in methods.items()}
