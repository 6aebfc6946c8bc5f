"""A plugin's flags are found beside its module, without importing it, for plugins of the tree and of third parties alike."""

import sys

import pytest

from hyperkube.command.server_command import ServerCommand
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginConflict, PluginLoadFailed
from hyperkube.plugin.flags import BOOL, GATES, INT, STRING, Flag, gates_in, plugin_flags, section

OWN = section("Global", Flag("help", BOOL, False, "help"), Flag("v", INT, 0, "level"))
LIMIT = """
    [[flag]]
    name = "acme-limit"
    type = "int"
    default = 3
    help = "how many"
    section = "Acme"
"""


def command():
    own = (*section("Generic", Flag("name", STRING, "", "a name", aliases=("old-name",))), *OWN)
    return ServerCommand("kube-serve", "Long.", "kube-serve", own, lambda _values: None, ("acmefamily",))


def found(host="kube-serve"):
    return plugin_flags(host, ("acmefamily",))


def test_they_stand_beside_a_package(site):
    site.install(
        "acme",
        ["acmefamily.Limit = acme_limit.inner:Limit"],
        **{"acme_limit/inner/__init__.py": "raise ImportError", "acme_limit/inner/flags.toml": LIMIT},
    )

    (plugin,) = found()

    assert (plugin.family, plugin.name, plugin.flags[0].name) == ("acmefamily", "Limit", "acme-limit")
    assert plugin.flags[0].setting == "acme_limit"
    assert str(plugin) == "acmefamily plugin 'Limit' of acme"


@pytest.mark.parametrize("module", ["acme_limit", "acme_space.limit", "acme_space.deep.limit"])
def test_they_stand_beside_a_module(site, module):
    path = module.replace(".", "/")
    site.install("acme", [f"acmefamily.Limit = {module}:Limit"], **{f"{path}.py": "", f"{path}.flags.toml": LIMIT})

    assert [flag.name for flag in found()[0].flags] == ["acme-limit"]
    assert "acme_space.limit" not in sys.modules


def test_they_stand_beside_a_package_of_the_top(site):
    site.install(
        "acme",
        ["acmefamily.Limit = acme_limit:Limit"],
        **{"acme_limit/__init__.py": "raise ImportError", "acme_limit/flags.toml": LIMIT},
    )

    assert [flag.name for flag in found()[0].flags] == ["acme-limit"]


def test_a_plugin_without_the_file_brings_none(site):
    site.install("acme", ["acmefamily.Limit = acme_limit:Limit"], **{"acme_limit.py": ""})

    assert found() == ()


def test_two_plugins_of_one_module_may_have_flags_of_their_own(site):
    text = LIMIT + '    plugins = ["A"]\n' + LIMIT.replace("acme-limit", "acme-both")
    site.install(
        "acme",
        ["acmefamily.A = acme_limit:A", "acmefamily.B = acme_limit:B"],
        **{"acme_limit.py": "", "acme_limit.flags.toml": text},
    )

    assert {plugin.name: [flag.name for flag in plugin.flags] for plugin in found()} == {
        "A": ["acme-limit", "acme-both"],
        "B": ["acme-both"],
    }


def test_a_flag_may_be_for_some_hosts(site):
    site.install(
        "acme",
        ["acmefamily.A = acme_limit:A"],
        **{"acme_limit.py": "", "acme_limit.flags.toml": LIMIT + '    hosts = ["kube-other"]\n'},
    )

    assert found()[0].flags == ()
    assert [flag.name for flag in found("kube-other")[0].flags] == ["acme-limit"]


def test_help_shows_them_by_section(site):
    site.install("acme", ["acmefamily.A = acme_limit:A"], **{"acme_limit.py": "", "acme_limit.flags.toml": LIMIT})

    text = command().help()

    assert "how many (default 3)" in text
    assert text.index("Generic flags:") < text.index("Acme flags:") < text.index("Global flags:")


def test_a_command_line_gives_them_their_values(site):
    site.install("acme", ["acmefamily.A = acme_limit:A"], **{"acme_limit.py": "", "acme_limit.flags.toml": LIMIT})

    assert command().parse([])["acme-limit"] == 3
    assert command().parse(["--acme_limit=5"])["acme-limit"] == 5


def test_two_plugins_that_claim_one_flag_are_both_named(site):
    site.install("acme", ["acmefamily.A = acme_limit:A"], **{"acme_limit.py": "", "acme_limit.flags.toml": LIMIT})
    alias = LIMIT.replace("acme-limit", "other") + '    aliases = ["acme-limit"]\n'
    site.install("other", ["acmefamily.B = acme_other:B"], **{"acme_other.py": "", "acme_other.flags.toml": alias})

    message = (
        "^flag --acme-limit is claimed twice, by acmefamily plugin 'A' of acme and by acmefamily plugin 'B' of other$"
    )
    with pytest.raises(PluginConflict, match=message):
        command().parse([])


def test_a_plugin_cannot_claim_a_flag_of_the_server(site):
    text = LIMIT.replace("acme-limit", "old-name")
    site.install("acme", ["acmefamily.A = acme_limit:A"], **{"acme_limit.py": "", "acme_limit.flags.toml": text})

    with pytest.raises(
        PluginConflict, match=r"^flag --old-name of acmefamily plugin 'A' of acme is one of kube-serve's own$"
    ):
        command().parse([])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flag = 1 1", "Expected newline"),
        ("[[flags]]\n", "the file has an unknown key 'flags' (known: enabled_by, flag, gate, uses)"),
        (LIMIT + "    color = 1\n", "flag 'acme-limit' has an unknown key 'color' (known: accepted, aliases, "),
        (LIMIT.replace("help", "#"), "flag 'acme-limit' has no 'help'"),
        (LIMIT.replace('"int"', '"whole"'), "flag 'acme-limit': type 'whole' is not one of string, bool, int, "),
        (LIMIT.replace("3", '"three"'), "flag 'acme-limit': default: 'three' is not an integer"),
    ],
)
def test_a_wrong_file_is_one_line(site, text, message):
    site.install("acme", ["acmefamily.A = acme_limit:A"], **{"acme_limit.py": "", "acme_limit.flags.toml": text})

    with pytest.raises(PluginLoadFailed) as error:
        found()

    assert str(error.value).startswith(f"flags of acmefamily plugin 'A' of acme: {message}")
    assert "\n" not in str(error.value)


def test_an_unknown_flag_names_the_one_that_may_be_meant():
    with pytest.raises(UsageError, match=r"^unknown flag: --nam \(did you mean --name\?; see kube-serve --help\)$"):
        command().parse(["--nam=x"])


GATE = """
    [[gate]]
    name = "AcmeTidy"
    help = "tidies more"

    [[gate]]
    name = "AcmeSwift"
    default = true
    stage = "BETA"
    help = "is quicker"
"""
GATES_FLAG = section("Global", Flag("feature-gates", GATES, "", "feature=true|false pairs"))


def with_gates():
    return ServerCommand("kube-serve", "Long.", "kube-serve", GATES_FLAG + OWN, lambda _values: None, ("acmefamily",))


@pytest.mark.parametrize(
    ("args", "value"),
    [
        ([], {"AcmeTidy": False, "AcmeSwift": True}),
        (["--feature-gates=AcmeTidy=true,Other=false"], {"AcmeTidy": True, "AcmeSwift": True, "Other": False}),
        (["--feature-gates=AcmeSwift=false"], {"AcmeTidy": False, "AcmeSwift": False}),
    ],
    ids=["nothing", "its own and another", "off"],
)
def test_gates_of_plugins_are_read_and_filled_in(site, args, value):
    site.install("acme", ["acmefamily.Tidy = acme_tidy:Tidy"], **{"acme_tidy.py": "", "acme_tidy.flags.toml": GATE})

    assert with_gates().parse(args)["feature-gates"] == value
    assert gates_in(with_gates().all_flags())["AcmeTidy"].owner == "acmefamily plugin 'Tidy' of acme"


def test_gates_of_plugins_are_listed_in_the_help(site):
    site.install("acme", ["acmefamily.Tidy = acme_tidy:Tidy"], **{"acme_tidy.py": "", "acme_tidy.flags.toml": GATE})

    shown = " ".join(with_gates().help().split())

    assert "AcmeSwift=true|false (BETA - default=true): is quicker" in shown
    assert "AcmeTidy=true|false (ALPHA - default=false): tidies more" in shown


def test_two_plugins_may_not_mean_different_things_by_one_gate(site):
    for name, text in (("one", GATE), ("two", GATE.replace("tidies more", "something else"))):
        files = {f"acme_{name}.py": "", f"acme_{name}.flags.toml": text}
        site.install(f"acme-{name}", [f"acmefamily.{name} = acme_{name}:A"], **files)

    with pytest.raises(PluginConflict, match="feature gate AcmeTidy is claimed twice, by acmefamily plugin 'one'"):
        with_gates().all_flags()


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ('name = "acmeTidy"', "the name is not in CapWords"),
        ('stage = "NEW"', "stage 'NEW' is not one of ALPHA, BETA, GA, DEPRECATED"),
        ('default = "yes"', "default 'yes' is not true or false"),
        ("defualt = true", "gate 'A' has an unknown key 'defualt'"),
        ("", "gate 'A' has no 'help'"),
    ],
    ids=["name", "stage", "default", "unknown", "help"],
)
def test_a_gate_that_is_described_wrongly_is_one_line(site, line, wrong):
    rows = ['name = "A"', 'help = "a"'] if line else ['name = "A"']
    text = "\n".join(["[[gate]]", *(row for row in rows if not line.startswith(row.split()[0])), line])
    site.install("acme", ["acmefamily.Tidy = acme_tidy:Tidy"], **{"acme_tidy.py": "", "acme_tidy.flags.toml": text})

    with pytest.raises(PluginLoadFailed, match=wrong):
        with_gates().all_flags()
