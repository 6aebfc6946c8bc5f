"""The scheduling queue: order, back-off, and what brings a pod back."""

from hyperkube_host.scheduler.queue.scheduling_queue import SchedulingQueue

from hyperkube.machinery.clock import FakeClock


def pod(name, **spec):
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


def by_priority(entry, queued_at):
    return -entry["spec"].get("priority", 0), queued_at


def test_pods_come_by_their_sort_key():
    queue = SchedulingQueue(FakeClock(), by_priority)
    queue.add(pod("low"))
    queue.add(pod("high", priority=5))

    first = queue.pop().pod

    assert first["metadata"]["name"] == "high"


def test_an_unschedulable_pod_waits_for_a_change_and_its_backoff():
    clock = FakeClock()
    queue = SchedulingQueue(clock, by_priority)
    queue.add(pod("web"))
    queue.add_unschedulable(queue.pop())
    assert queue.pending()["unschedulable"] == 1

    queue.move_all()
    waiting = queue.pending()
    clock.advance(1.0)

    assert waiting["backoff"] == 1
    assert queue.pending()["active"] == 1


def test_a_change_during_the_attempt_is_not_lost():
    clock = FakeClock()
    queue = SchedulingQueue(clock, by_priority)
    queue.add(pod("web"))
    queued = queue.pop()

    queue.move_all()
    queue.add_unschedulable(queued)

    assert queue.pending()["backoff"] == 1


def test_backoff_doubles_up_to_ten_seconds():
    clock = FakeClock()
    queue = SchedulingQueue(clock, by_priority)
    queue.add(pod("web"))
    waits = []
    for _ in range(6):
        queue.add_unschedulable(queue.pop(), error=True)
        started = clock.monotonic()
        while not queue.pending()["active"]:
            clock.advance(0.5)
        waits.append(clock.monotonic() - started)

    assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_a_gated_pod_becomes_active_when_its_gates_go():
    queue = SchedulingQueue(FakeClock(), by_priority, lambda each: "gated" if each["spec"].get("gates") else "")
    queue.add(pod("web", gates=["a"]))
    held = queue.pending()

    queue.add(pod("web"))

    assert held["gated"] == 1
    assert queue.pending()["active"] == 1


def test_an_unschedulable_pod_is_tried_again_after_five_minutes():
    clock = FakeClock()
    queue = SchedulingQueue(clock, by_priority)
    queue.add(pod("web"))
    queue.add_unschedulable(queue.pop())

    clock.advance(300.0)

    assert queue.pending()["active"] == 1


def test_a_removed_pod_is_not_handed_out():
    queue = SchedulingQueue(FakeClock(), by_priority)
    queue.add(pod("gone"))
    queue.add(pod("stays"))

    queue.delete("default/gone")
    first = queue.pop().pod

    assert first["metadata"]["name"] == "stays"


def test_close_ends_the_wait():
    queue = SchedulingQueue(FakeClock(), by_priority)

    queue.close()

    assert queue.pop() is None


def test_a_pod_replaced_in_flight_is_not_forgotten_with_the_old_one():
    queue = SchedulingQueue(FakeClock(), by_priority)
    old, new = pod("web"), pod("web")
    old["metadata"]["uid"], new["metadata"]["uid"] = "1", "2"
    queue.add(old)
    queued = queue.pop()

    queue.delete("default/web")
    queue.add(new)
    queue.done(queued)

    assert not queue.is_current(queued)
    assert queue.pop().pod == new


def test_a_pod_changed_in_flight_is_tried_again_at_once():
    queue = SchedulingQueue(FakeClock(), by_priority)
    queue.add(pod("web"))
    queued = queue.pop()

    queue.add(pod("web", tolerations=[{"operator": "Exists"}]))
    queue.add_unschedulable(queued)

    assert queue.pending()["active"] == 1


def test_only_changes_that_may_help_wake_a_pod():
    queue = SchedulingQueue(
        FakeClock(), by_priority, queueing_hint=lambda plugin, change: (plugin, change) == ("Fit", "node")
    )
    queue.add(pod("web"))
    queue.add_unschedulable(queue.pop(), unschedulable_plugins=["Fit"])

    queue.move_all("pod")
    still = queue.pending()["unschedulable"]
    queue.move_all("node")

    assert still == 1
    assert queue.pending()["backoff"] == 1


def test_a_gated_pod_is_asked_about_again_after_changes_that_its_gate_names():
    open_gates = set()
    queue = SchedulingQueue(
        FakeClock(),
        by_priority,
        lambda _pod: "" if "gang" in open_gates else "Gang",
        lambda _plugin, change: change == "pod group",
    )
    queue.add(pod("web"))

    queue.move_all("node")
    open_gates.add("gang")
    before = queue.pending()
    queue.move_all("node")
    still = queue.pending()
    queue.move_all("pod group")

    assert (before["gated"], still["gated"]) == (1, 1)
    assert queue.pending()["active"] == 1


def test_an_activated_pod_skips_its_back_off():
    queue = SchedulingQueue(FakeClock(), by_priority)
    for name in ("failed", "refused"):
        queue.add(pod(name))
    queue.add_unschedulable(queue.pop(), error=True)
    queue.add_unschedulable(queue.pop(), unschedulable_plugins=["A"])

    for name in ("failed", "refused", "unknown"):
        queue.activate(f"default/{name}")

    assert queue.pending()["active"] == 2


def test_many_gated_pods_cost_one_question_for_each_gate():
    asked = []
    queue = SchedulingQueue(
        FakeClock(),
        by_priority,
        lambda pod: "A" if pod["metadata"]["name"] < "p5" else "B",
        lambda plugin, change: asked.append((plugin, change)),
    )
    for number in range(10):
        queue.add(pod(f"p{number}"))

    queue.move_all("node")
    queue.delete("default/p0")
    left = queue.pending()["gated"]
    for number in range(1, 5):
        queue.delete(f"default/p{number}")
    queue.move_all("pod")

    assert asked == [("A", "node"), ("B", "node"), ("B", "pod")]
    assert left == 9


def test_a_pod_whose_claims_were_made_is_tried_again():
    held = {"a": "no claim"}
    queue = SchedulingQueue(FakeClock(), by_priority, gate=lambda each: held.get(each["metadata"]["name"], ""))
    queue.add(pod("a"))
    gated = queue.pending()["gated"]
    held.clear()

    queue.add({**pod("a"), "status": {"conditions": []}})
    untouched = queue.pending()["gated"]
    queue.add({**pod("a"), "status": {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "a-gpu-x"}]}})

    assert (gated, untouched, queue.pending()["active"]) == (1, 1, 1)


def test_it_holds_a_pod_until_that_is_bound_or_gone_and_no_other_of_its_name():
    queue = SchedulingQueue(FakeClock(), by_priority)
    one, other = pod("web"), pod("web")
    one["metadata"]["uid"], other["metadata"]["uid"] = "1", "2"
    queue.add(one)

    queued = queue.pop()

    assert (queue.holds(one), queue.holds(other)) == (True, False)
    queue.done(queued)
    assert not queue.holds(one)
