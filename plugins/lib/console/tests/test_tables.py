"""What of a table is shown, and what is found wrong in it."""

import pytest
from hyperkube_lib.console.findings import Severity, findings, states
from hyperkube_lib.console.reader import Row, Table
from hyperkube_lib.console.table_view import PAGE, Wanted, sort_key, tone, view

COLUMNS = ("Name", "Ready", "Status", "Restarts", "Age")


def made(*rows):
    return Table(COLUMNS, tuple(Row("demo", row[0], tuple(row)) for row in rows), frozenset(), "1")


PODS = made(
    ("web-0", "1/1", "Running", "0", "3d4h"),
    ("web-1", "0/1", "Running", "2 (5m ago)", "59s"),
    ("job-0", "0/1", "Completed", "0", "5m30s"),
    ("bad-0", "0/1", "CrashLoopBackOff", "12", "2h"),
    ("new-0", "0/1", "Pending", "0", "1s"),
)


def names(found):
    return [row.name for row in found.rows]


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        pytest.param(Wanted(), ["web-0", "web-1", "job-0", "bad-0", "new-0"], id="the server's order"),
        pytest.param(Wanted(text="WEB"), ["web-0", "web-1"], id="a word"),
        pytest.param(Wanted(text="web 0/1"), ["web-1"], id="words in different columns"),
        pytest.param(Wanted(text="demo"), ["web-0", "web-1", "job-0", "bad-0", "new-0"], id="the namespace"),
        pytest.param(Wanted(state="Pending"), ["new-0"], id="a state"),
        pytest.param(Wanted(sort=4), ["new-0", "web-1", "job-0", "bad-0", "web-0"], id="by age"),
        pytest.param(Wanted(sort=3, descending=True), ["bad-0", "web-1", "web-0", "job-0", "new-0"], id="by restarts"),
        pytest.param(Wanted(sort=0), ["bad-0", "job-0", "new-0", "web-0", "web-1"], id="by name"),
        pytest.param(Wanted(sort=99), ["web-0", "web-1", "job-0", "bad-0", "new-0"], id="by no column"),
        pytest.param(Wanted(page=99), ["web-0", "web-1", "job-0", "bad-0", "new-0"], id="beyond the last page"),
    ],
)
def test_a_page_is_filtered_and_sorted(wanted, shown):
    assert names(view(PODS, wanted)) == shown


def test_pages_do_not_overlap():
    table = made(*((f"p-{number:04}", "1/1", "Running", "0", "1s") for number in range(2 * PAGE + 1)))

    pages = [view(table, Wanted(page=number)) for number in (1, 2, 3)]

    assert [len(page.rows) for page in pages] == [PAGE, PAGE, 1]
    assert {page.pages for page in pages} == {3}
    assert len({row.name for page in pages for row in page.rows}) == 2 * PAGE + 1


@pytest.mark.parametrize(
    ("column", "cell", "look"),
    [
        ("Status", "Running", "good"),
        ("Status", "Completed", "good"),
        ("Status", "Pending", "busy"),
        ("Status", "Init:0/2", "busy"),
        ("Status", "CrashLoopBackOff", "bad"),
        ("Status", "NotReady,SchedulingDisabled", "bad"),
        ("Status", "Ready,SchedulingDisabled", "good"),
        ("Ready", "1/2", "busy"),
        ("Ready", "2/2", ""),
        ("Name", "Failed", ""),
    ],
)
def test_a_cell_looks_as_it_does(column, cell, look):
    assert tone(column, cell) == look


def test_ages_sort_by_time():
    ages = ["1y3d", "3d4h", "2h", "5m30s", "59s", "0s"]

    assert sorted(set(ages), key=sort_key, reverse=True) == ages


def test_the_worst_is_found_first():
    found = findings({"pods": PODS})

    assert [(each.severity, each.text, each.count) for each in found] == [
        (Severity.BAD, "pods CrashLoopBackOff", 1),
        (Severity.BUSY, "pods Pending", 1),
        (Severity.BUSY, "pods not all ready", 1),
    ]


def test_nothing_is_found_where_all_is_well():
    assert findings({"pods": made(("web-0", "1/1", "Running", "0", "3d"))}) == []


def test_states_are_counted():
    assert states(PODS)[0] == ("Running", 2, "good")
