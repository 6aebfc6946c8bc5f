"""A server's command line reads like Kubernetes' own, and says in one line what is wrong."""

import pytest

from hyperkube.command.server_command import ServerCommand
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import ADDRESS, BOOL, CIDRS, DURATION, GATES, INT, LIST, PORT_RANGE, STRING, Flag, section

FLAGS = section(
    "Test",
    Flag("help", BOOL, False, "help"),
    Flag("version", BOOL, False, "version"),
    Flag("v", INT, 0, "log level"),
    Flag("allow-privileged", BOOL, False, "privileged containers"),
    Flag("event-ttl", DURATION, "1h", "life of events"),
    Flag("admission-control", LIST, "", "plugins"),
    Flag("insecure-bind-address", ADDRESS, "127.0.0.1", "address", aliases=("address",)),
    Flag("service-cluster-ip-range", CIDRS, "10.0.0.0/24", "services"),
    Flag("service-node-port-range", PORT_RANGE, "30000-32767", "ports"),
    Flag("feature-gates", GATES, "", "gates"),
    Flag("cloud-provider", STRING, "", "cloud", accepted=True),
    Flag("audit-log-path", STRING, "", "audit", refused=True),
    Flag("port", INT, 0, "port", deprecated="use --secure-port"),
)


def command(run=lambda _options: None):
    return ServerCommand("kube-apiserver", "Long text.", "kube-apiserver --v=2", FLAGS, run)


def read(*args):
    return command().parse(args)


def test_defaults_are_filled_in_and_converted():
    options = read()

    assert options["event-ttl"] == 3600.0
    assert options["admission-control"] == ()
    assert options.given == frozenset()


@pytest.mark.parametrize(
    "args",
    [
        pytest.param(["--allow-privileged"], id="valueless"),
        pytest.param(["--allow-privileged=true"], id="with-value"),
        pytest.param(["--allow_privileged"], id="underscore"),
        pytest.param(["-allow-privileged=T"], id="single-dash"),
    ],
)
def test_a_boolean_needs_no_value(args):
    assert read(*args)["allow-privileged"] is True


def test_a_valueless_boolean_does_not_eat_the_next_flag():
    options = read("--allow-privileged", "--v", "4")

    assert options["allow-privileged"] is True
    assert options["v"] == 4


def test_a_number_may_follow_its_letter_at_once():
    assert read("-v4")["v"] == 4
    with pytest.raises(UsageError, match="unknown flag: --w4"):
        read("-w4")


def test_lists_keep_their_order_and_repeated_flags_add_up():
    assert read("--admission-control=B,A", "--admission-control=C")["admission-control"] == ("B", "A", "C")


def test_an_alias_sets_the_flag_it_stands_for():
    assert read("--address=0.0.0.0")["insecure-bind-address"] == "0.0.0.0"


def test_a_range_may_be_written_with_host_bits():
    assert read("--service-cluster-ip-range=10.0.0.1/24")["service-cluster-ip-range"] == "10.0.0.0/24"


def test_gates_are_booleans():
    assert read("--feature-gates=A=true,B=false")["feature-gates"] == {"A": True, "B": False}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(["--nosuch=1"], "unknown flag: --nosuch", id="unknown-flag"),
        pytest.param(["word"], "unknown argument 'word'", id="argument"),
        pytest.param(["--v"], "flag needs an argument: --v", id="no-value"),
        pytest.param(["--v=x"], "invalid argument 'x' for --v", id="bad-number"),
        pytest.param(["--allow-privileged=perhaps"], "is not a boolean", id="bad-boolean"),
        pytest.param(["--event-ttl=soon"], "invalid argument 'soon' for --event-ttl", id="bad-duration"),
        pytest.param(["--address=localhost"], "is not an IP address", id="bad-address"),
        pytest.param(["--service-cluster-ip-range=10"], "is not a range", id="bad-range"),
        pytest.param(["--service-node-port-range=9-1"], "is not a port range", id="bad-port-range"),
    ],
)
def test_a_mistake_is_one_clear_line(args, message):
    with pytest.raises(UsageError) as error:
        read(*args)

    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_an_accepted_flag_that_is_not_built_warns_once(capsys):
    read("--cloud-provider=aws")

    assert capsys.readouterr().err == "warning: --cloud-provider is accepted, but its behaviour is not built yet\n"


def test_a_security_flag_that_is_not_built_is_refused():
    with pytest.raises(UsageError, match="--audit-log-path is a security option that is not built yet"):
        read("--audit-log-path=/var/log/audit")


def test_help_comes_by_section_and_runs_nothing(capsys):
    started = []

    command(started.append).main(["--help"])

    text = capsys.readouterr().out
    assert "Long text." in text
    assert "Test flags:" in text
    assert started == []


def test_version_is_one_line_and_runs_nothing(capsys):
    started = []

    command(started.append).main(["--version"])

    assert capsys.readouterr().out.startswith("Kubernetes v1.36")
    assert started == []
