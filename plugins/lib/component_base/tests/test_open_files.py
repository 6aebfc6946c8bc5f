"""The limit of open files."""

import resource

import pytest
from hyperkube_lib.component_base.open_files import allow_open_files

from hyperkube.machinery.errors import UsageError


@pytest.fixture
def limits(monkeypatch):
    """The limits of a process that is not this one: soft 100, hard 1000, and no right to raise the latter."""
    found = {"now": (100, 1000), "may_raise": False}

    def setrlimit(_which, wanted):
        if wanted[1] > found["now"][1] and not found["may_raise"]:
            raise ValueError("not allowed to raise maximum limit")
        found["now"] = wanted

    monkeypatch.setattr(resource, "getrlimit", lambda _which: found["now"])
    monkeypatch.setattr(resource, "setrlimit", setrlimit)
    return found


@pytest.mark.parametrize(
    ("count", "may_raise", "after"),
    [
        (500, False, (500, 1000)),
        (5000, False, (1000, 1000)),
        (5000, True, (5000, 5000)),
        (50, False, (100, 1000)),
    ],
    ids=["within the hard limit", "no right to more", "as root", "never less"],
)
def test_as_many_as_the_machine_allows(limits, count, may_raise, after):
    limits["may_raise"] = may_raise

    assert allow_open_files(count) == after[0]
    assert limits["now"] == after


def test_less_than_none_is_refused():
    with pytest.raises(UsageError, match="--max-open-files -1 must not be a negative number"):
        allow_open_files(-1)
