"""Records of lists: made once for each container and state."""

from hyperkube_lib.cri import cri_schema
from hyperkube_runtime.remote.records import POD_UID, ListedRecords, listed_container

from hyperkube.hookspecs.runtime import ContainerState


def message(name, state="CONTAINER_RUNNING", **labels):
    labels = {POD_UID: "u"} | labels
    return cri_schema().message("Container")(id=name, state=state, labels=labels, metadata={"name": name})


def test_what_has_not_changed_is_the_same_record():
    records = ListedRecords(listed_container)
    first = records.of([message("a"), message("b")])

    again = records.of([message("a"), message("b", "CONTAINER_EXITED")])

    assert again[0] is first[0]
    assert [one.state for one in again] == [ContainerState.RUNNING, ContainerState.EXITED]


def test_what_went_is_forgotten_and_what_is_no_pods_is_left_out():
    records = ListedRecords(listed_container)
    foreign = cri_schema().message("Container")(id="x")

    assert [one.id for one in records.of([message("a"), foreign])] == ["a"]
    assert [one.id for one in records.of([foreign, message("b")])] == ["b"]
    assert set(records._known) == {"x", "b"}
