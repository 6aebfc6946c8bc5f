"""The kubelet's event recorder."""

import threading

from hyperkube_host.kubelet.events import WRITERS, KubeletEventRecorder

from hyperkube.client.events import EventRecorder
from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import EVENTS
from hyperkube.machinery.clock import SystemClock

SECONDS = 10.0


class Slow(FakeClient):
    """Takes in events when it is told to, and knows how many wait."""

    def __init__(self):
        super().__init__()
        self.taken_in = threading.Event()
        self.waiting = threading.Semaphore(0)

    def create(self, resource, obj, *args, **more):
        self.waiting.release()
        assert self.taken_in.wait(SECONDS)
        return super().create(resource, obj, *args, **more)


def recorder(client):
    return KubeletEventRecorder([EventRecorder(client, SystemClock(), "kubelet", "n") for _ in range(WRITERS)], "n")


def pod(uid):
    return {"metadata": {"name": uid, "namespace": "default", "uid": uid}}


def test_events_about_one_pod_are_written_in_their_order():
    client = FakeClient()
    events = recorder(client)

    for number in range(9):
        events.pod_event(pod("a"), "Normal", "Told", str(number))
    events.flush()

    assert [event["message"] for event in client.objects(EVENTS)] == [str(number) for number in range(9)]


def test_those_about_several_pods_do_not_wait_for_each_other():
    client = Slow()
    events = recorder(client)
    uids = iter(map(str, range(1000)))
    chosen = {}
    while len(chosen) < WRITERS:
        uid = next(uids)
        chosen.setdefault(hash(uid) % WRITERS, uid)

    for uid in chosen.values():
        events.pod_event(pod(uid), "Normal", "Told", "of it")

    assert all(client.waiting.acquire(timeout=SECONDS) for _ in range(WRITERS))
    client.taken_in.set()
    events.flush()
    assert len(client.objects(EVENTS)) == WRITERS
