"""Listening to a runtime's events."""

from hyperkube_host.kubelet.pleg.evented import RECONNECT_SECONDS, EventedPleg

from hyperkube.hookspecs.runtime import RuntimeFailed


class Streams:
    """A runtime whose streams end as told."""

    def __init__(self, *ends):
        self.ends = list(ends)

    def container_events(self, notify):
        notify("u")
        end = self.ends.pop(0)
        if end is not None:
            raise end


class Waits:
    """A clock that notes how long it was waited."""

    def __init__(self):
        self.waited = []

    def wait(self, event, seconds):
        self.waited.append(seconds)


def test_a_stream_that_ends_is_opened_again_and_given_up_where_there_is_none():
    told, clock = [], Waits()
    runtime = Streams(None, RuntimeFailed("away"), RuntimeFailed("no such call", "Unimplemented"))

    EventedPleg(runtime, clock, told.append).run()

    assert told == ["u", "u", "u"]
    assert clock.waited == [RECONNECT_SECONDS, RECONNECT_SECONDS]


def test_nothing_is_heard_once_it_is_closed():
    told = []
    evented = EventedPleg(Streams(), Waits(), told.append)
    evented.close()

    evented.run()

    assert told == []
