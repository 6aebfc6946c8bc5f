"""The success policy: which finished indexes are enough, after upstream's ``success_policy_test.go``."""

import pytest
from hyperkube_controller.job.indexes import read_indexes
from hyperkube_controller.job.success_policy import match_success_policy


@pytest.mark.parametrize(
    ("rules", "succeeded", "expected"),
    [
        pytest.param([{"succeededIndexes": "0-2"}], "", "", id="none-succeeded"),
        pytest.param([{"succeededIndexes": "0-2"}], "0-1", "", id="not-all-of-the-indexes"),
        pytest.param([{"succeededIndexes": "0-2"}], "0-3", "Matched rules at index 0", id="all-of-the-indexes"),
        pytest.param([{"succeededCount": 3}], "1,5", "", id="fewer-than-the-count"),
        pytest.param([{"succeededCount": 3}], "1,5,7", "Matched rules at index 0", id="the-count"),
        pytest.param(
            [{"succeededIndexes": "0-4", "succeededCount": 2}],
            "0,4,9",
            "Matched rules at index 0",
            id="count-of-the-indexes",
        ),
        pytest.param([{"succeededIndexes": "0-4", "succeededCount": 3}], "0,4,9", "", id="count-beside-the-indexes"),
        pytest.param(
            [{"succeededIndexes": "9"}, {"succeededCount": 1}], "0", "Matched rules at index 1", id="the-second-rule"
        ),
        pytest.param([{"succeededIndexes": "a-b"}], "0", "", id="unreadable-indexes"),
        pytest.param([], "0", "", id="no-rules"),
        pytest.param([{"succeededIndexes": ""}], "1-3", "", id="no-indexes-named"),
        pytest.param([{"succeededCount": 4}], "", "", id="none-succeeded"),
        pytest.param([{"succeededIndexes": "10-12,14-16"}], "1-3,5-7", "", id="indexes-beyond-the-completions"),
        pytest.param([{"succeededIndexes": "2-4,8-12"}], "2-5,7-15", "Matched rules at index 0", id="in-part-beyond"),
        pytest.param([{"succeededIndexes": "1-3,5-7"}], "2-4,6-8", "", id="overlap-at-first"),
        pytest.param(
            [{"succeededIndexes": "0-3,6-9", "succeededCount": 7}],
            "1-9",
            "Matched rules at index 0",
            id="count-across-gaps",
        ),
    ],
)
def test_the_first_rule_that_is_met_is_named(rules, succeeded, expected):
    job = {"spec": {"completions": 10, "successPolicy": {"rules": rules}}}

    assert match_success_policy(job, read_indexes(succeeded, 10)) == expected


def test_a_job_without_a_policy_needs_all_its_completions():
    assert match_success_policy({"spec": {"completions": 2}}, {0}) == ""
