"""Which hosts are left out when nginx refuses some together."""

import pytest
from hyperkube_addon.ingress_nginx.isolation import apart
from hyperkube_addon.ingress_nginx.routing import Route, Server


def host(name, path="/"):
    return Server(name, (Route(path, False, ()),), None, tls=False, redirect=False)


HOSTS = [*(host(f"h{number}.org") for number in range(1000)), host("")]


@pytest.mark.parametrize(
    "bad", [{"h0.org"}, {"h999.org"}, {"h3.org", "h4.org", "h700.org"}, {""}, {"", "h1.org"}], ids=str
)
def test_only_those_that_are_refused_are_left_out(bad):
    tried = []

    def refusal(hosts):
        tried.append(len(hosts))
        return "no" if any(each.host in bad and each.routes for each in hosts) else ""

    taken, refused = apart(HOSTS, refusal)

    assert refused == dict.fromkeys(bad, "no")
    assert [each.host for each in taken] == [each.host for each in HOSTS if each.host not in bad] + [""] * ("" in bad)
    assert len(tried) < 25 * len(bad)


def test_no_host_is_to_blame_where_nothing_at_all_is_taken():
    tried = []

    taken, refused = apart(HOSTS, lambda hosts: tried.append(len(hosts)) or "no disk")

    assert (taken, refused) == (HOSTS, {})
    assert tried == [1]
