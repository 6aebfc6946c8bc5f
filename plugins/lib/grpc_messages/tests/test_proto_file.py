"""Proto3 files read at run time."""

import pytest
from hyperkube_lib.grpc_messages import Schema, from_mapping, to_mapping
from hyperkube_lib.grpc_messages.proto_file import ProtoFileError

TEXT = """
syntax = "proto3";
package zoo.v1;
import "google/protobuf/wrappers.proto";

service Keeper {
  rpc Feed(Animal) returns (Animal);
  rpc Watch(Animal) returns (stream Animal);
}

message Animal {
  // said of all of them
  enum Mood {
    CALM = 0;
    WILD = 1;
  }
  message Leg { int32 length = 1; }
  string name = 1;
  Mood mood = 2;
  repeated Leg legs = 3;
  map<string, string> labels = 4;
  map<string, Leg> by_side = 5;
  oneof home {
    string cage = 6;
    Leg pond = 7;
  }
  optional int64 age = 8;
  google.protobuf.BoolValue tame = 9;
  bytes voice = 10 [deprecated = true];
  repeated int64 friends = 11;
}
"""


@pytest.fixture(scope="module")
def schema():
    return Schema("zoo.proto", TEXT)


FULL = {
    "name": "rex",
    "mood": "WILD",
    "legs": [{"length": 3}, {}],
    "labels": {"a": "b"},
    "by_side": {"left": {"length": 2}},
    "pond": {"length": 1},
    "age": 0,
    "tame": {"value": False},
    "voice": b"\xff",
    "friends": [1, 2],
}


def test_a_message_is_the_mapping_it_was_made_of(schema):
    animal = schema.message("Animal")

    again = animal.FromString(from_mapping(animal, FULL).SerializeToString())

    assert to_mapping(again) == FULL


def test_what_is_not_set_is_left_out(schema):
    assert to_mapping(from_mapping(schema.message("Animal"), {"name": ""})) == {}


def test_an_unknown_field_is_refused(schema):
    with pytest.raises(ValueError, match="nosuch"):
        from_mapping(schema.message("Animal"), {"nosuch": 1})


def test_members_of_a_oneof_exclude_each_other(schema):
    message = from_mapping(schema.message("Animal"), {"cage": "c"})

    message.pond.length = 1

    assert to_mapping(message) == {"pond": {"length": 1}}


def test_a_service_knows_its_methods(schema):
    service = schema.service("Keeper")

    watch = service.methods["Watch"]

    assert service.name == "zoo.v1.Keeper"
    assert (watch.path, watch.client_streaming, watch.server_streaming) == ("/zoo.v1.Keeper/Watch", False, True)


@pytest.mark.parametrize("text", ["message A {", "rpc", 'syntax = "proto3"; §', "message A { string }"])
def test_what_is_no_proto_file_is_refused(text):
    with pytest.raises((ProtoFileError, ValueError)):
        Schema("x.proto", text)
