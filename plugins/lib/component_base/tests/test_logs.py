"""Log lines: their form, their place, and how many there are."""

from __future__ import annotations

import json
import logging
import re

import pytest
from hyperkube_lib.component_base.flags import FLAGS
from hyperkube_lib.component_base.logs import set_up_logging

from hyperkube.command.common_flags import GLOBAL
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

log = logging.getLogger("hyperkube.test_logs")


@pytest.fixture(autouse=True)
def logging_as_before():
    root = logging.getLogger("hyperkube")
    handlers, level, propagate = root.handlers[:], root.level, root.propagate
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers[:], root.propagate = handlers, propagate
    root.setLevel(level)


def set_up(**given):
    values = {name.replace("_", "-"): value for name, value in given.items()}
    set_up_logging("kube-thing", FlagValues.of((*FLAGS, *GLOBAL), values))


def say():
    log.debug("detail")
    log.info("news")
    log.warning("worry")
    log.error("grief")


def test_klogs_text_on_standard_error_is_the_default(capsys):
    set_up(v=2)

    say()

    first, second, third = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ test_logs\.py:\d+\] news", first)
    assert (second[0], third[0]) == ("W", "E")


def test_json_has_one_object_a_line(capsys):
    set_up(v=2, logging_format="json")

    say()

    news, worry, grief = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert news["msg"] == "news"
    assert news["caller"].startswith("test_logs.py:")
    assert news["v"] == worry["v"] == 0
    assert "v" not in grief
    assert news["ts"] > 1_600_000_000_000


def test_a_file_may_tell_more_than_the_others(capsys):
    set_up(vmodule="test_l*=4,other=9")

    say()

    assert "detail" in capsys.readouterr().err


def test_and_less(capsys):
    set_up(v=4, vmodule="test_logs=0")

    say()

    assert [line[-5:] for line in capsys.readouterr().err.splitlines()] == ["worry", "grief"]


def test_there_is_a_file_for_each_severity(tmp_path, capsys):
    set_up(v=2, logtostderr=False, log_dir=str(tmp_path))

    say()

    texts = {name: (tmp_path / f"kube-thing.{name}").read_text() for name in ("INFO", "WARNING", "ERROR")}
    assert [text.count("\n") for text in texts.values()] == [3, 2, 1]
    assert capsys.readouterr().err.count("\n") == 1  # of severity ERROR and above


def test_each_line_may_go_to_one_file_alone(tmp_path):
    set_up(v=2, logtostderr=False, log_dir=str(tmp_path), one_output=True)

    say()

    texts = [(tmp_path / f"kube-thing.{name}").read_text() for name in ("INFO", "WARNING", "ERROR")]
    assert [text.count("\n") for text in texts] == [1, 1, 1]


def test_all_may_go_to_one_file_and_to_standard_error(tmp_path, capsys):
    set_up(v=2, logtostderr=False, log_file=str(tmp_path / "all.log"), alsologtostderr=True, skip_headers=True)

    say()

    assert (tmp_path / "all.log").read_text() == capsys.readouterr().err == "news\nworry\ngrief\n"


def test_without_standard_error_there_is_a_threshold(tmp_path, capsys):
    set_up(v=2, logtostderr=False, log_file=str(tmp_path / "all.log"), stderrthreshold="WARNING")

    say()

    assert capsys.readouterr().err.count("\n") == 2


def test_a_file_is_begun_anew_at_its_limit(tmp_path):
    path = tmp_path / "all.log"
    set_up(v=2, logtostderr=False, log_file=str(path), log_file_max_size=1)

    log.info("x" * 1024 * 1024)
    log.info("after")

    assert path.stat().st_size < 1000


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"logging_format": "xml"}, "--logging-format='xml' is not known"),
        ({"vmodule": "a=b"}, "--vmodule: a=b is not pattern=N"),
        ({"logtostderr": False, "stderrthreshold": "LOUD"}, "--stderrthreshold='LOUD' is not known"),
        ({"logtostderr": False, "log_dir": "/no/such/folder"}, "cannot write log files"),
    ],
)
def test_what_cannot_be_is_one_line(given, says):
    with pytest.raises(UsageError, match=re.escape(says)):
        set_up(**given)
