"""Rules for addresses that are not the node's own."""

from hyperkube_proxier.userspace.portals import Portal, Portals

ONE, SIX = Portal("TCP", "198.51.100.7", 80), Portal("UDP", "2001:db8::7", 53)


class Runner:
    """Remembers what was run; `-C` and `-S` fail, as if nothing was there yet."""

    def __init__(self, *, fails=()):
        self.lines = []
        self.texts = []
        self._fails = fails

    def __call__(self, argv, text=""):
        self.lines.append(" ".join(argv))
        self.texts.append(text)
        return not any(word in argv for word in ("-C", *self._fails))


def test_packets_to_an_address_are_redirected_in_and_out():
    runner = Runner()

    assert Portals(runner).keep({ONE: 40001, SIX: 40002})

    four, six = (text.splitlines() for text in runner.texts if text)
    rule = "-d 198.51.100.7 -p tcp -m tcp --dport 80 -j REDIRECT --to-ports 40001"
    assert four[3:5] == [f"-A KUBE-PORTALS-CONTAINER {rule}", f"-A KUBE-PORTALS-HOST {rule}"]
    assert "-d 2001:db8::7 -p udp -m udp --dport 53" in six[3]
    assert [line.split(" -t nat -I ")[1].split()[0] for line in runner.lines if " -I " in line] == [
        "PREROUTING",
        "OUTPUT",
    ] * 2


def test_nothing_is_run_for_what_is_there():
    runner = Runner()
    portals = Portals(runner)
    portals.keep({ONE: 40001})
    before = len(runner.lines)

    assert portals.keep({ONE: 40001})
    assert len(runner.lines) == before
    portals.keep({})
    assert "REDIRECT" not in runner.texts[before]


def test_what_was_refused_is_written_again():
    runner = Runner(fails=["iptables-restore"])
    portals = Portals(runner)

    assert not portals.keep({ONE: 40001})
    assert not portals.keep({ONE: 40001})
    assert len([text for text in runner.texts if text]) == 2


def test_the_chains_go_when_they_are_there():
    runner = Runner(fails=["ip6tables"])

    Portals(runner).remove_all()

    assert any(line.endswith("-X KUBE-PORTALS-HOST") for line in runner.lines)
    assert not any("ip6tables" in line and "-X" in line for line in runner.lines)
