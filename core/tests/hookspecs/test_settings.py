"""A plugin's settings are checked against the annotations of its dataclass."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from hyperkube.hookspecs.settings import parse_settings
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record


@dataclass(frozen=True)
class Retry:
    times: int = 3


@dataclass(frozen=True)
class Settings:
    url: str
    seconds: float = 1.5
    workers: int = 2
    strict: bool = False
    names: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    mode: Literal["fast", "safe"] = "safe"
    ca: str | None = None
    retry: Retry = Retry()
    extra: Any = None


def parse(**values):
    return parse_settings("P", Settings, values)


def test_defaults_are_the_dataclass_own():
    assert parse(url="u") == Settings(url="u")


def test_lists_become_tuples_and_tables_dataclasses():
    parsed = parse(url="u", names=["a", "b"], retry={"times": 5}, labels={"a": "b"}, extra={"any": 1}, mode="fast")

    assert parsed.names == ("a", "b")
    assert parsed.retry == Retry(5)
    assert parsed.extra == {"any": 1}


def test_a_whole_number_is_a_number():
    assert parse(url="u", seconds=2).seconds == 2.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "missing key 'url'"),
        ({"url": "u", "nosuch": 1}, "unknown key 'nosuch' (known: ca, extra, labels, "),
        ({"url": 1}, "url = 1 must be a string"),
        ({"url": "u", "workers": True}, "workers = True must be an integer"),
        ({"url": "u", "workers": "two"}, "workers = 'two' must be an integer"),
        ({"url": "u", "seconds": "soon"}, "seconds = 'soon' must be a number"),
        ({"url": "u", "strict": 1}, "strict = 1 must be true or false"),
        ({"url": "u", "names": "a,b"}, "names = 'a,b' must be a list"),
        ({"url": "u", "names": ["a", 1]}, "names[1] = 1 must be a string"),
        ({"url": "u", "labels": ["a"]}, "labels = ['a'] must be a table"),
        ({"url": "u", "labels": {"a": 1}}, "labels.a = 1 must be a string"),
        ({"url": "u", "mode": "slow"}, "mode = 'slow' must be one of 'fast', 'safe'"),
        ({"url": "u", "ca": 1}, "ca = 1 must be a string"),
        ({"url": "u", "retry": {"times": "x"}}, "retry.times = 'x' must be an integer"),
        ({"url": "u", "retry": {"nosuch": 1}}, "unknown key 'retry.nosuch' (known: times)"),
    ],
)
def test_what_is_wrong_is_one_line(values, message):
    with pytest.raises(UsageError) as error:
        parse(**values)

    assert str(error.value).startswith(f"settings of plugin 'P': {message}")
    assert "\n" not in str(error.value)


class Server(Record):
    url: str
    seconds: float = 1.5
    retry: Retry = Retry()


def test_a_record_will_do_as_well():
    parsed = parse_settings("P", Server, {"url": "u", "retry": {"times": 5}})

    assert parsed == Server(url="u", seconds=1.5, retry=Retry(5))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "missing key 'url'"),
        ({"url": "u", "nosuch": 1}, "unknown key 'nosuch' (known: retry, seconds, url)"),
        ({"url": 1}, "url = 1 must be a string"),
    ],
)
def test_what_is_wrong_with_a_record_is_said_alike(values, message):
    with pytest.raises(UsageError) as caught:
        parse_settings("P", Server, values)

    assert str(caught.value) == f"settings of plugin 'P': {message}"
