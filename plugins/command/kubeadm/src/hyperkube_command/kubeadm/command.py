"""kubeadm version: the release, in the four forms of kubeadm.

Source: kubernetes ``cmd/kubeadm/app/cmd/version.go``.
"""

from __future__ import annotations

import platform
import sys

import click

from hyperkube.machinery import release
from hyperkube.machinery.errors import UsageError

FORMS = ("short", "json", "yaml")
INSTEAD = "clusters are made by `hyperkube up`, nodes join one by `hyperkube kubelet --kubeconfig=FILE`"
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


class KubeadmGroup(click.Group):
    """A group that says what to use in the place of kubeadm's other words."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names.

        Raises:
            UsageError: there is none.
        """
        if args[0] not in self.commands:
            raise UsageError(f'unknown command "{args[0]}" for "kubeadm" ({INSTEAD})')
        return super().resolve_command(ctx, args)


@click.group(cls=KubeadmGroup)
def command() -> None:
    """Say which release of Kubernetes this is, as kubeadm does; it makes no clusters."""


@command.command(epilog="Example: kubeadm version -o short")
@click.option("-o", "--output", default="", show_default="text", help="one of short, json and yaml")
def version(output: str) -> None:
    """Print the version of kubeadm."""
    if output not in {"", *FORMS}:
        raise UsageError(f"invalid output format: {output}")
    click.echo(render(version_info(), output))


def version_info() -> dict[str, str]:
    """Return what kubeadm knows about its build."""
    machine = platform.machine()
    return {
        "major": str(release.MAJOR),
        "minor": str(release.MINOR),
        "gitVersion": release.GIT_VERSION,
        "gitCommit": "hyperkube",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "none",
        "compiler": sys.implementation.name,
        "platform": f"{sys.platform}/{MACHINES.get(machine, machine)}",
    }


def render(info: dict[str, str], output: str) -> str:
    """Return the version in one of the forms, as text without one."""
    if output == "short":
        return info["gitVersion"]
    if output == "json":
        import orjson

        return orjson.dumps({"clientVersion": info}, option=orjson.OPT_INDENT_2).decode()
    if output == "yaml":
        import yaml

        text: str = yaml.safe_dump({"clientVersion": info})
        return text.rstrip("\n")
    fields = ", ".join(f'{name[0].upper()}{name[1:]}:"{value}"' for name, value in info.items())
    return f"kubeadm version: &version.Info{{{fields}}}"


def main() -> None:
    """Run the command line of a process called kubeadm."""
    from hyperkube.command.main import main as run_program

    sys.argv.insert(1, "kubeadm")
    run_program()
