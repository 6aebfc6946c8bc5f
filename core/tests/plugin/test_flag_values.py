"""The values of flags: read-only, complete, and it is known which ones were given."""

import pytest

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import DURATION, INT, Flag, FlagValues

FLAGS = (Flag("port", INT, 8080, "port", aliases=("old-port",)), Flag("event-ttl", DURATION, "1h", "life"))


def test_defaults_are_filled_in():
    values = FlagValues.of(FLAGS, {"event-ttl": "2s"})

    assert dict(values) == {"port": 8080, "event-ttl": 2.0}
    assert values.given == {"event-ttl"}


def test_an_alias_is_its_flag():
    values = FlagValues.of(FLAGS, {"old-port": 1})

    assert (values["port"], values.given) == (1, {"port"})


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(UsageError, match=r"^unknown flag: --event-tll \(did you mean --event-ttl\?\)$"):
        FlagValues.of(FLAGS, {"event-tll": 1})


def test_a_value_that_cannot_be_read_is_refused():
    with pytest.raises(UsageError, match=r"^invalid argument 'x' for --port: 'x' is not an integer$"):
        FlagValues.of(FLAGS, {"port": "x"})


def test_other_defaults_leave_what_was_given():
    values = FlagValues.of(FLAGS, {"port": 1}).with_defaults({"port": 2, "event-ttl": 3.0})

    assert dict(values) == {"port": 1, "event-ttl": 3.0}
    assert values.given == {"port"}


def test_what_follows_from_other_values_does_not_count_as_given():
    values = FlagValues.of(FLAGS, {}).with_values({"port": 2})

    assert (values["port"], values.given) == (2, frozenset())
