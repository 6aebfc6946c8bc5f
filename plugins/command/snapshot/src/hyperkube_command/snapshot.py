"""hyperkube snapshot: states of the local cluster that can be kept, compared, brought back, and gone on from twice.

A snapshot is one file that holds everything the API server stores, with the history that is retained: ``storage
check`` reads it like a store. Certificates and keys are not in it: a cluster that is restored or forked makes its own.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from hyperkube_lib.local_cluster.layout import Layout, default_data_dir
from hyperkube_lib.local_cluster.store_upkeep import store_folder, upkeep_at

from hyperkube.hookspecs.storage import Survey
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError

EXAMPLE = """
\b
Examples:
  hyperkube snapshot save before-upgrade
  hyperkube snapshot diff before-upgrade
  hyperkube snapshot restore before-upgrade --force
  hyperkube snapshot fork /tmp/second && hyperkube up --data-dir /tmp/second --secure-port 7443
"""
ENDING = ".db"
NOW = "now"

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _data_dir(command: _Command) -> _Command:
    return click.option(
        "--data-dir",
        type=click.Path(path_type=Path),
        default=default_data_dir,
        show_default="the local cluster's",
        help="a cluster's data folder",
    )(command)


@click.group(epilog=EXAMPLE)
def command() -> None:
    """Save, list, compare and restore states of the local cluster, or fork it.

    A SNAPSHOT is the name of one in the data folder or the path of a file.
    """


@command.command()
@click.argument("snapshot", default="")
@click.option("--force", is_flag=True, help="replace a snapshot of that name")
@_data_dir
def save(snapshot: str, force: bool, data_dir: Path) -> None:
    """Save the state of this moment as SNAPSHOT, named after the time if not given; the cluster may be running."""
    name = snapshot or SystemClock().now().strftime("%Y-%m-%dT%H-%M-%SZ")
    click.echo(upkeep_at(store_folder(data_dir)).backup(_place(data_dir, name), force=force))


@command.command(name="ls")
@_data_dir
def list_snapshots(data_dir: Path) -> None:
    """List the snapshots in the data folder, the oldest revision first."""
    upkeep = upkeep_at(store_folder(data_dir))
    files = sorted(_folder(data_dir).glob(f"*{ENDING}"))
    found = sorted(((upkeep.survey(source=file), file) for file in files), key=lambda one: (one[0].revision, one[1]))
    rows = [("NAME", "REVISION", "OBJECTS", "BYTES")]
    rows += [(file.stem, str(seen.revision), str(len(seen.keys)), str(file.stat().st_size)) for seen, file in found]
    for name, *numbers in rows:
        click.echo(f"{name:<32} " + " ".join(f"{number:>10}" for number in numbers))


@command.command()
@click.argument("snapshot", default=NOW)
@_data_dir
def show(snapshot: str, data_dir: Path) -> None:
    """Count the objects of SNAPSHOT, of a revision of the cluster's past, or of now."""
    found = _survey(data_dir, snapshot)
    past = f"readable from revision {max(found.oldest, 1)} on"
    click.echo(f"revision {found.revision}, {past}, {len(found.keys)} objects")
    for resource, count in sorted(Counter(map(resource_of, found.keys)).items()):
        click.echo(f"{count:>8} {resource}")


@command.command()
@click.argument("before")
@click.argument("after", default=NOW)
@_data_dir
def diff(before: str, after: str, data_dir: Path) -> None:
    """Name the keys that differ between two states: snapshots, revisions of the cluster's past, or "now".

    + was added, - was deleted, ~ was written; exit code 1 when there is any.
    """
    old, new = _survey(data_dir, before).keys, _survey(data_dir, after).keys
    changes = dict.fromkeys(new.keys() - old.keys(), "+") | dict.fromkeys(old.keys() - new.keys(), "-")
    changes |= {key: "~" for key in old.keys() & new.keys() if old[key] != new[key]}
    for key in sorted(changes):
        click.echo(f"{changes[key]} {key}")
    if changes:
        raise click.exceptions.Exit(1)


@command.command()
@click.argument("snapshot")
@click.option("--force", is_flag=True, help="replace the store that is there")
@_data_dir
def restore(snapshot: str, force: bool, data_dir: Path) -> None:
    """Make SNAPSHOT the state of the cluster, which must be stopped, or of a new one in an empty --data-dir."""
    source, layout = _place(data_dir, snapshot), Layout(data_dir.absolute())
    if not source.is_file():
        raise UsageError(f"snapshot {snapshot!r} does not exist ({source})")
    layout.create()
    with layout.locked():
        click.echo(upkeep_at(layout.store).restore(source, force=force))


@command.command()
@click.argument("target", type=click.Path(path_type=Path))
@_data_dir
def fork(target: Path, data_dir: Path) -> None:
    """Begin another cluster in the empty folder TARGET with the state of this moment; this one may be running.

    Nothing is copied if the cluster is stopped and the disk can share blocks between files (Btrfs, XFS). The fork
    has certificates and keys of its own.
    """
    layout = Layout(target.absolute())
    if layout.root.exists() and (not layout.root.is_dir() or any(layout.root.iterdir())):
        raise UsageError(f"{str(target)!r} is not an empty folder")
    upkeep = upkeep_at(store_folder(data_dir))
    upkeep.survey()  # nothing is made if there is nothing to fork
    layout.create()
    done = upkeep.fork(layout.store)
    addresses = data_dir / "slice"
    if addresses.is_file():  # asked for again, so that addresses in the store stay true if the seed does not run
        shutil.copyfile(addresses, layout.root / "slice")
    click.echo(f"forked: {done}; start it with: hyperkube up --data-dir {target}")


def resource_of(key: str) -> str:
    """Return the part of a key that names the resource: ``pods``, ``services/specs``, ``example.com/widgets``."""
    words = key.strip("/").split("/")[1:]
    return "/".join(words[: 2 if "." in words[0] or words[0] == "services" else 1]) if words else key


def _folder(data_dir: Path) -> Path:
    return data_dir.absolute() / "snapshots"


def _place(data_dir: Path, snapshot: str) -> Path:
    """Return the file of a snapshot: a word names one in the data folder, anything else is a path."""
    is_word = "/" not in snapshot and not snapshot.endswith(ENDING)
    return _folder(data_dir) / f"{snapshot}{ENDING}" if is_word else Path(snapshot).absolute()


def _survey(data_dir: Path, state: str) -> Survey:
    upkeep = upkeep_at(store_folder(data_dir))
    if state == NOW:
        return upkeep.survey()
    place = _place(data_dir, state)
    if place.is_file():
        return upkeep.survey(source=place)
    if state.isdecimal() and int(state) > 0:
        return upkeep.survey(revision=int(state))
    raise UsageError(f"snapshot {state!r} does not exist ({place}), and it is no revision")
