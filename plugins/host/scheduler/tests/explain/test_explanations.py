"""Decisions are remembered within bounds, and those on disk survive the process."""

import threading

import pytest

pytest.importorskip("numpy")

import numpy as np
from hyperkube_host.scheduler.explain.explanation_file import ExplanationFile
from hyperkube_host.scheduler.explain.explanations import BOTH, Explanations
from hyperkube_host.scheduler.framework.schedule_result import Diagnosis, ScheduleResult, packed, shortened

from hyperkube.hookspecs.scheduling import Filtered

NAMES = ("a", "b", "c")


def decision(node="a", score=7, names=NAMES):
    count = len(names)
    refused = np.zeros(count, dtype=bool)
    refused[-1] = True
    refusals = {"NodeResourcesFit": Filtered(~refused, {"Insufficient cpu": refused})}
    scores = {"ImageLocality": shortened(np.full(count, score)), "TaintToleration": shortened(np.arange(count))}
    made = ScheduleResult(
        node, Diagnosis(tuple(names), packed(refusals), scores, {"ImageLocality": 1, "TaintToleration": 3})
    )
    made.text = "" if node else "0/3 nodes are available"
    return made


def test_a_decision_comes_back_as_it_was(tmp_path):
    written = {
        "default/one": decision(),
        "default/two": decision(None),
        "default/three": decision("x", names=("x", "y")),
    }
    ExplanationFile(tmp_path / "deep" / "file").append(written.items())

    read = ExplanationFile(tmp_path / "deep" / "file")

    for key, each in written.items():
        assert read.find(key).explain(key) == each.explain(key)
    assert read.find("default/other") is None


def test_the_latest_decision_counts(tmp_path):
    file = ExplanationFile(tmp_path / "file")
    file.append([("default/one", decision("a"))])
    file.append([("default/one", decision("b"))])

    assert ExplanationFile(tmp_path / "file").find("default/one").node == "b"


def test_two_files_bound_the_space(tmp_path):
    file = ExplanationFile(tmp_path / "file", limit_bytes=2000)
    for number in range(200):
        file.append([(f"default/p{number}", decision(score=number))])

    assert sum(each.stat().st_size for each in tmp_path.iterdir()) < 5000
    assert {each.name for each in tmp_path.iterdir()} == {"file", "file.old"}
    assert file.find("default/p0") is None
    assert file.find("default/p199").explain("")["nodes"][1]["scores"][0]["score"] == 199


@pytest.mark.parametrize("lost", [1, 10, 40])
def test_what_a_crash_cut_short_costs_the_last_decision_only(tmp_path, lost):
    path = tmp_path / "file"
    ExplanationFile(path).append([("default/one", decision()), ("default/two", decision())])
    path.write_bytes(path.read_bytes()[:-lost])

    file = ExplanationFile(path)
    file.append([("default/three", decision("c"))])

    assert file.find("default/one").node == "a"
    assert file.find("default/two") is None
    assert ExplanationFile(path).find("default/three").node == "c"


def test_memory_is_bounded_and_disk_knows_more(tmp_path):
    kept = Explanations(limit=2, file=ExplanationFile(tmp_path / "file"))
    for number in range(3):
        made = decision(score=number)
        kept.record(f"default/p{number}", made)
        kept.persist(f"default/p{number}", made)
        wait_for_writer(kept)

    assert kept.explain("default/p0") is not None
    assert Explanations(limit=2).explain("default/p0") is None


def wait_for_writer(kept):
    for thread in threading.enumerate():
        if thread.name == "scheduler-explanations":
            thread.join(30)


def test_what_waits_to_be_written_is_written_at_the_end(tmp_path):
    kept = Explanations(file=ExplanationFile(tmp_path / "file"), busy=lambda: True)
    made = decision()
    kept.record("default/one", made)
    kept.persist("default/one", made)

    kept.close()

    assert ExplanationFile(tmp_path / "file").find("default/one").node == "a"


def test_a_file_that_cannot_be_written_stops_nothing(tmp_path, caplog):
    tmp_path.joinpath("folder").write_text("no folder")
    kept = Explanations(file=ExplanationFile(tmp_path / "folder" / "file"))
    for name in ("default/one", "default/two"):
        made = decision()
        kept.record(name, made)
        kept.persist(name, made)
        wait_for_writer(kept)

    assert kept.explain("default/one")["node"] == "a"
    assert [record.getMessage() for record in caplog.records if "cannot write" in record.getMessage()][1:] == []
    assert "cannot write the explanations" in caplog.text


def test_at_rest_memory_leaves_to_the_file_what_is_in_it(tmp_path):
    kept, without = Explanations(file=ExplanationFile(tmp_path / "file")), Explanations()
    for number in range(3):
        made = decision(score=number)
        for each in (kept, without):
            each.record(f"default/p{number}", made)
            if number < 2:
                each.persist(f"default/p{number}", made)
        wait_for_writer(kept)
    kept.record("default/p1", decision("b"))
    told = [kept.explain(f"default/p{number}") for number in range(3)]

    kept.forget()
    without.forget()

    assert list(kept._decisions) == ["default/p2", "default/p1"]
    assert kept._bytes == sum(each.trace.size for each in kept._decisions.values())
    assert [kept.explain(f"default/p{number}") for number in range(3)] == told
    assert all(without.explain(f"default/p{number}") for number in range(3))


def test_what_is_in_the_file_is_in_memory_only_where_it_is_of_the_latest(tmp_path):
    kept = Explanations(file=ExplanationFile(tmp_path / "file"))
    for number in range(BOTH + 3):
        made = decision(score=number)
        kept.record(f"default/p{number}", made)
        kept.persist(f"default/p{number}", made)
    wait_for_writer(kept)
    kept.record("default/another", decision())

    assert list(kept._decisions) == [*(f"default/p{number}" for number in range(3, BOTH + 3)), "default/another"]
    assert kept._bytes == sum(each.trace.size for each in kept._decisions.values())
    assert kept.explain("default/p0")["nodes"][1]["scores"][0]["score"] == 0
