"""What plugins took, read from the metrics of their hosts."""

import pytest
from hyperkube_command.plugins.cost import SOURCES, Cost, costs_in, measured, table

from hyperkube.machinery.errors import NotFound, UsageError

NAME = "apiserver_admission_controller_admission_duration_seconds"
ROWS = (("A", "CREATE", "admit", 3, 0.006), ("A", "UPDATE", "admit", 1, 0.002), ("B", "CREATE", "validate", 2, 1.0))
TEXT = "\n".join(
    [f"# HELP {NAME} x", f"# TYPE {NAME} histogram"]
    + [
        f'{NAME}_{part}{{name="{name}",operation="{operation}",rejected="false",type="{kind}"}} {value}'
        for name, operation, kind, count, total in ROWS
        for part, value in (("count", count), ("sum", total))
    ]
    + [""]
)


def test_operations_are_summed_per_plugin_and_hook():
    assert costs_in(SOURCES[0], TEXT) == [
        Cost("admission", "A", "admit", 4, 0.008),
        Cost("admission", "B", "validate", 2, 1.0),
    ]


def test_the_dearest_comes_first_and_a_silent_host_is_a_line():
    def fetch(path):
        if path == "/metrics":
            return TEXT.encode()
        raise NotFound("the server could not find the requested resource")

    costs, silent = measured(fetch)

    assert [cost.name for cost in costs] == ["B", "A"]
    assert [line.split(":")[0] for line in silent] == ["scheduler plugins", "controller plugins"]


def test_a_family_that_is_not_measured_is_refused():
    with pytest.raises(UsageError, match=r"no host measures the calls of volume plugins \(measured: admission, sch"):
        measured(lambda _path: b"", "volume")


def test_times_are_in_units_that_people_read():
    head, row = table([Cost("admission", "A", "admit", 4, 0.0008)])

    assert head[-2:] == ("MEAN", "TOTAL")
    assert row[-2:] == ("200 µs", "800 µs")
    assert table([Cost("x", "A", "", 2, 3.0)])[1][-2:] == ("1.5 s", "3 s")
