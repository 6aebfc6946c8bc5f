"""A plugin's settings: defaults of flags, the host's file, the family's file, the command line; the later wins."""

import pytest

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues
from hyperkube.plugin.settings import PluginSettings

FLAGS = """
    uses = ["cluster-name", "absent"]
    enabled_by = ["config-file"]

    [[flag]]
    name = "acme-limit"
    type = "int"
    default = 3
    help = "how many"
    section = "Acme"
    setting = "limit"

    [[flag]]
    name = "acme-ttl"
    type = "duration"
    default = "10s"
    help = "how long"
    section = "Acme"
    setting = "ttl"

    [[flag]]
    name = "acme-url"
    type = "string"
    help = "address of the service"
    section = "Acme"
    enables = true

    [[flag]]
    name = "acme-unbuilt"
    type = "string"
    help = "nothing yet"
    section = "Acme"
    accepted = true
"""
DEFAULTS = {"limit": 3, "ttl": 10.0, "acme_url": ""}


@pytest.fixture
def acme(site):
    files = {"acme_plugin.py": "", "acme_plugin.flags.toml": FLAGS}
    site.install("acme", ["acmefamily.A = acme_plugin:A", "acmefamily.B = acme_plain:B"], **files)
    return site


def settings(values):
    return PluginSettings("kube-serve", ("acmefamily",), values)


def config(tmp_path, text, name="plugins.yaml"):
    path = tmp_path / name
    path.write_text(text)
    return {"plugin-config": str(path)}


@pytest.mark.usefixtures("acme")
def test_without_anything_given_they_are_the_defaults():
    assert settings({}).of("acmefamily", "A") == DEFAULTS
    assert settings({}).of("acmefamily", "B") == {}


@pytest.mark.usefixtures("acme")
def test_flags_of_the_host_are_given_where_it_has_them():
    assert settings({"cluster-name": "c"}).of("acmefamily", "A") == {**DEFAULTS, "cluster_name": "c"}


@pytest.mark.usefixtures("acme")
def test_a_table_of_the_host_file_wins_over_defaults(tmp_path):
    given = config(tmp_path, "acmefamily.A:\n  limit: 5\n  ttl: 1m\n")

    assert settings(given).of("acmefamily", "A") == {"limit": 5, "ttl": 60.0, "acme_url": ""}


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plugins.toml", "[acmefamily.A]\nlimit = 5\n"),
        ("plugins.yaml", "acmefamily:\n  A:\n    limit: 5\n"),
        ("plugins.json", '{"acmefamily.A": {"limit": 5}}'),
    ],
)
def test_a_file_may_be_written_in_several_ways(tmp_path, name, text):
    assert settings(config(tmp_path, text, name)).of("acmefamily", "A") == {**DEFAULTS, "limit": 5}


@pytest.mark.usefixtures("acme")
def test_the_file_of_the_family_wins_over_that_of_the_host(tmp_path):
    given = config(tmp_path, "acmefamily.A: {limit: 5, ttl: 1m}")

    assert settings(given).of("acmefamily", "A", {"limit": 6}) == {"limit": 6, "ttl": 60.0, "acme_url": ""}


@pytest.mark.usefixtures("acme")
def test_the_command_line_wins_over_every_file(tmp_path):
    values = FlagValues(
        {**config(tmp_path, "acmefamily.A: {limit: 5}"), "acme-limit": 7, "acme-ttl": 10.0}, ["acme-limit"]
    )

    assert settings(values).of("acmefamily", "A", {"limit": 6, "ttl": 1}) == {"limit": 7, "ttl": 1, "acme_url": ""}


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nosuch.A: {}", "unknown plugin family 'nosuch' (known: "),
        ("acmefamily.C: {}", "acmefamily plugin 'C' is not installed (installed: A, B)"),
        ("acmefamily: 3", "acmefamily plugin '' is not installed (installed: A, B)"),
        ("acmefamily.A: 3", "settings of acmefamily.A must be a table, not 3"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path, text, message):
    given = config(tmp_path, text)

    with pytest.raises(UsageError) as error:
        settings(given)

    assert str(error.value).startswith(f"{given['plugin-config']}: {message}")


@pytest.mark.parametrize("text", ["a: [", "- a\n"])
def test_a_file_without_tables_is_refused(tmp_path, text):
    with pytest.raises(UsageError, match="--plugin-config="):
        settings(config(tmp_path, text))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot read --plugin-config="):
        settings({"plugin-config": str(tmp_path / "none.yaml")})


@pytest.mark.usefixtures("acme")
def test_a_text_that_its_flag_could_not_be_given_is_refused(tmp_path):
    given = config(tmp_path, "acmefamily.A: {ttl: soon}")

    with pytest.raises(UsageError, match=r"plugins.yaml: plugin 'A': ttl: .*soon"):
        settings(given).of("acmefamily", "A")


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(
    ("values", "names"),
    [({}, []), ({"acme-url": "http://a"}, ["A"]), ({"config-file": "f"}, ["A"]), ({"acme-limit": 5}, [])],
)
def test_flags_switch_plugins_on(values, names):
    assert settings(values).switched_on("acmefamily") == names


@pytest.mark.usefixtures("acme")
def test_a_given_flag_of_a_plugin_that_does_not_run_has_no_effect():
    chosen = settings({"acme-limit": 5, "acme-unbuilt": "x", "v": 1})
    without = chosen.without_effect()
    chosen.of("acmefamily", "A")

    assert without == ["--acme-limit has no effect: acmefamily plugin 'A' is not enabled"]
    assert chosen.without_effect() == []


@pytest.mark.usefixtures("acme")
def test_a_default_has_an_effect_nowhere():
    assert settings(FlagValues({"acme-limit": 3}, [])).without_effect() == []
