"""The files that Kubernetes' providers read: gcfg."""

import pytest
from hyperkube_lib.cloud_provider.gcfg import fields_of, parse_gcfg, read_gcfg

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

TEXT = """
# a comment
[Global]
Auth-URL = https://keystone.example:5000/v3 ; behind it
password = "a \\"quoted\\" # ; word"
flag
tags = a, b
tags = c
[LoadBalancerClass "dmz"] ; with a name
port = 7
"""


class Options(Record):
    """Values of each kind."""

    auth_url: str = ""
    password: str = ""
    flag: bool = False
    tags: tuple[str, ...] = ()
    port: int = 0


def test_sections_have_names_and_keys_stand_several_times():
    sections = parse_gcfg(TEXT)

    assert sections["loadbalancerclass", "dmz"] == {"port": ["7"]}
    assert fields_of(Options, "Global", sections["global", ""], frozenset()) == Options(
        auth_url="https://keystone.example:5000/v3", password='a "quoted" # ; word', flag=True, tags=("a", "b", "c")
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"prot": ["7"]}, r"\[Global\] has an unknown key 'prot' \(known: auth-url, flag, password, port, tags\)"),
        ({"port": ["many"]}, r"\[Global\] port: invalid literal"),
        ({"flag": ["many"]}, r"\[Global\] flag: 'many' is neither true nor false"),
    ],
)
def test_what_is_wrong_is_named(values, message):
    with pytest.raises(ValueError, match=message):
        fields_of(Options, "Global", values, frozenset())


def test_what_has_no_effect_is_taken():
    assert fields_of(Options, "Global", {"old": ["x"]}, frozenset({"old"})) == Options()


def test_no_path_says_nothing_and_a_missing_file_is_named(tmp_path):
    assert read_gcfg("", known=()) == {}
    with pytest.raises(UsageError, match=r"--cloud-config=.*none.conf"):
        read_gcfg(str(tmp_path / "none.conf"), known=("global",))
