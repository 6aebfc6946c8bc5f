"""An explanation as lines: the sentence first, then the nodes, the best on top."""

from hyperkube_command.why.why import lines


def test_a_placed_pod_shows_scores_times_weights():
    found = {
        "pod": "default/web",
        "node": "b",
        "message": "",
        "nodes": [
            {"node": "c", "refused": [{"plugin": "NodeResourcesFit", "reason": "Insufficient cpu"}]},
            {"node": "a", "scores": [{"plugin": "NodeAffinity", "score": 0, "weight": 2}], "total": 0},
            {"node": "b", "scores": [{"plugin": "NodeAffinity", "score": 100, "weight": 2}], "total": 200},
        ],
    }

    said = [line.split() for line in lines(found)]

    assert said == [
        ["default/web", "is", "on", "b"],
        ["NODE", "TOTAL", "NODEAFFINITY", "REFUSED", "BY"],
        ["b*", "200", "100x2", "-"],
        ["a", "0", "0x2", "-"],
        ["c", "-", "-", "NodeResourcesFit:", "Insufficient", "cpu"],
    ]


def test_without_a_record_the_pods_own_condition_speaks():
    found = {"pod": "default/web", "node": None, "message": "0/1 nodes are available: 1 Insufficient cpu."}

    assert lines(found) == ["default/web: 0/1 nodes are available: 1 Insufficient cpu."]
