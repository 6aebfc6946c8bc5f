"""What `hyperkube status` prints of a cluster that does not run."""

import click
import orjson
from click.testing import CliRunner
from hyperkube_command.local_cluster.status import command


def test_the_state_has_a_colour_on_a_terminal_only(tmp_path):
    plain = CliRunner().invoke(command, ["--data-dir", str(tmp_path)], standalone_mode=False)
    coloured = CliRunner().invoke(command, ["--data-dir", str(tmp_path)], standalone_mode=False, color=True)

    assert plain.return_value == 3
    assert plain.output.splitlines()[0] == "state      stopped"
    assert coloured.output != plain.output
    assert click.unstyle(coloured.output) == plain.output


def test_programs_get_no_colour(tmp_path):
    done = CliRunner().invoke(command, ["--data-dir", str(tmp_path), "-o", "json"], standalone_mode=False, color=True)

    assert orjson.loads(done.output)["state"] == "stopped"
