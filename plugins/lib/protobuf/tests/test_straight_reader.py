"""Straight code reads what the loop reads: the same object, or the same refusal, whatever the bytes are."""

import importlib
import random
import sys
from pathlib import Path

import orjson
import pytest
from hyperkube_lib.protobuf import Protobuf, ProtobufError
from hyperkube_lib.protobuf.wire import delimited

from hyperkube.machinery.schema import DecodeError, KubeSchema, compile_schema

sys.path.insert(0, str(Path(__file__).parent))
from samples import sample

sys.path.pop(0)

pytest.importorskip("hyperkube_api.core.v1")

NEVER = 1 << 62


def _modules():
    import hyperkube_api

    files = {path for root in hyperkube_api.__path__ for path in Path(root).glob("*/v*.py")}
    return sorted(f"hyperkube_api.{path.parent.name}.{path.stem}" for path in files)


def _schemas(module_name):
    module = importlib.import_module(module_name)
    return [
        compile_schema(value)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, KubeSchema) and value.__module__ == module_name
    ]


def _read(codec, message, schema):
    """Return what comes of a message: the JSON of the object, members in their order, or the refusal."""
    try:
        return orjson.dumps(codec.read_message(message, schema))
    except (ProtobufError, DecodeError) as error:
        return type(error), str(error)


def _altered(message, r):
    """Yield the message as it came, and with every kind of damage and of order that Go does not write."""
    yield message
    yield message + message
    if message:
        yield message[: r.randrange(len(message))]
        for _ in range(3):
            at = r.randrange(len(message))
            yield message[:at] + bytes([r.randrange(256)]) + message[at + 1 :]
        at = r.randrange(len(message))
        yield message[at:] + message[:at]
    yield message + b"\xf8\x07\x05"
    yield delimited(1, b"") + message


@pytest.mark.parametrize("module_name", _modules())
def test_straight_code_agrees_with_the_loop_about_any_bytes(module_name):
    loop, straight = Protobuf(NEVER), Protobuf(1)
    r = random.Random(module_name)
    for schema in _schemas(module_name):
        for seed in range(2):
            message = straight.write_message(schema.canonical(sample(schema.schema, seed)), schema)
            straight.read_message(message, schema)

            for altered in _altered(message, r):
                assert _read(straight, altered, schema) == _read(loop, altered, schema), (schema.schema, altered)


def test_straight_code_needs_no_loop_for_what_go_writes(monkeypatch):
    codec, schema = Protobuf(1), compile_schema("hyperkube_api.core.v1:Pod")
    meta = {"name": "a" * 200, "namespace": "b", "generation": 300, "labels": {"a": "b", "c": "d" * 100}}
    container = {"name": "app", "ports": [{"containerPort": 8080}], "resources": {"limits": {"cpu": "1"}}}
    status = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "startTime": "2024-01-02T03:04:05Z",
    }
    pod = schema.canonical(
        {"metadata": meta, "spec": {"hostNetwork": True, "containers": [container]}, "status": status}
    )
    message = codec.write_message(pod, schema)
    codec.read_message(message, schema)
    called = []
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_qualname) if event == "call" else None)

    try:
        read = codec.read_message(message, schema)
    finally:
        sys.setprofile(None)

    assert read == pod
    assert "_loop.<locals>.read" not in called
