"""A bug of a plugin is told with the plugin's name, and one that repeats does not fill the log."""

import logging

import pytest

from hyperkube.plugin.failures import FIRST_SECONDS, RepeatedFailures, culprit, described

MODULE = """
class Check:
    def admission_validate(self):
        helper()

class Other:
    def admission_validate(self):
        helper()

def helper():
    raise KeyError("spec")
"""


@pytest.fixture
def plugins(site):
    """Install two plugins of one module; return their classes."""
    site.install(
        "acme-checks",
        ["admission.Check = acme.checks:Check", "admission.Other = acme.checks:Other"],
        **{"acme/checks.py": MODULE},
    )
    from acme import checks  # type: ignore[import-not-found]

    return checks


def bug(call):
    """Return what a call raises."""
    try:
        call()
    except KeyError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize("name", ["Check", "Other"])
def test_the_plugin_of_the_traceback_is_named(plugins, name):
    error = bug(getattr(plugins, name)().admission_validate)

    assert culprit(error) == f"admission plugin {name!r} of acme-checks, in {name}.admission_validate, checks.py:11"
    assert described(error).startswith("KeyError('spec') (admission plugin ")


def test_a_bug_of_ours_blames_no_plugin():
    error = bug(lambda: {}["spec"])

    assert culprit(error) == ""
    assert described(error) == "KeyError('spec')"


@pytest.fixture
def log():
    """Return a function that logs at a time, and the lines that came through."""
    lines, throttle = [], RepeatedFailures()

    def write(created, text, *arguments, error=None):
        record = logging.LogRecord(
            "acme", logging.ERROR, "file", 1, text, arguments, error and (type(error), error, error.__traceback__)
        )
        record.created = created
        if throttle.filter(record):
            lines.append(record.getMessage() + (" +traceback" if record.exc_info else ""))

    return write, lines


def test_a_bug_that_repeats_is_a_line_with_a_count_ever_more_seldom(plugins, log):
    write, lines = log
    error = bug(plugins.Check().admission_validate)

    for tenth in range(80):
        write(tenth / 10, "sync of %s failed", f"pod-{tenth}", error=error)

    blamed = "admission plugin 'Check' of acme-checks, in Check.admission_validate, checks.py:11"
    assert lines == [
        f"sync of pod-0 failed: {blamed} +traceback",
        f"sync of pod-10 failed: {blamed}: KeyError('spec') (9 more since this was last logged)",
        f"sync of pod-30 failed: {blamed}: KeyError('spec') (19 more since this was last logged)",
        f"sync of pod-70 failed: {blamed}: KeyError('spec') (39 more since this was last logged)",
    ]


def test_an_error_that_a_line_quotes_counts_by_its_text(log):
    write, lines = log

    for second in range(3):
        write(second / 10, "informer of %s: %s", "pods", ConnectionError("10.0.0.1:443: refused"))
    write(0.3, "informer of %s: %s", "pods", ConnectionError("10.0.0.2:443: refused"))
    write(FIRST_SECONDS, "informer of %s: %s", "pods", ConnectionError("10.0.0.1:443: refused"))

    assert lines == [
        "informer of pods: 10.0.0.1:443: refused",
        "informer of pods: 10.0.0.2:443: refused",
        "informer of pods: 10.0.0.1:443: refused (2 more since this was last logged)",
    ]


def test_what_was_quiet_for_its_pause_is_told_in_full_again(log):
    write, lines = log
    error = bug(lambda: {}["spec"])

    for second in range(0, 10, 2):
        write(float(second), "failed", error=error)

    assert lines == ["failed +traceback"] * 5


def test_other_lines_pass(log):
    write, lines = log

    for _ in range(3):
        write(1.0, "the port %s is taken", 8080)

    assert lines == ["the port 8080 is taken"] * 3


def test_handlers_that_share_it_write_the_same_lines():
    shared = RepeatedFailures()
    error = bug(lambda: {}["spec"])

    verdicts = []
    for tenth in range(3):
        record = logging.LogRecord("acme", logging.ERROR, "file", 1, "%s failed", (tenth,), (KeyError, error, None))
        record.created = tenth / 10
        verdicts.append([shared.filter(record), shared.filter(record)])

    assert verdicts == [[True, True], [False, False], [False, False]]
