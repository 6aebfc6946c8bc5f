from hyperkube_host.apiserver.rest.whole_seconds import WholeSeconds

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.times import format_time


class Counting(FakeClock):
    asked = 0

    def now(self):
        self.asked += 1
        return super().now()


def test_it_is_the_time_that_the_clock_has_written_once_in_a_second():
    clock = Counting()
    seconds = WholeSeconds(clock)
    told = []
    for _ in range(40):
        told.append((seconds.text(), format_time(FakeClock.now(clock))))
        clock.advance(0.125)

    assert [ours for ours, _ in told] == [true for _, true in told]
    assert clock.asked == 5
