import io

import orjson
import pytest
from event_logger import COMMAND, Options, writer

from hyperkube.machinery.errors import UsageError

EVENT = {
    "metadata": {"namespace": "web"},
    "type": "Warning",
    "reason": "BackOff",
    "involvedObject": {"kind": "Pod", "name": "a"},
    "message": "Back-off restarting failed container",
}


def options(*flags):
    return Options.of(COMMAND.parse(flags))


def test_an_event_is_one_line_of_json():
    out = io.StringIO()

    writer(out, options())(EVENT)

    assert orjson.loads(out.getvalue()) == {
        "type": "Warning",
        "reason": "BackOff",
        "object": "Pod/a",
        "namespace": "web",
        "message": "Back-off restarting failed container",
    }


def test_other_types_are_left_out():
    out = io.StringIO()

    writer(out, options("--event-type=Normal"))(EVENT)

    assert out.getvalue() == ""


def test_a_wrong_type_is_a_users_mistake():
    with pytest.raises(UsageError, match="--event-type must be Normal or Warning, not 'Error'"):
        options("--event-type=Error")
