"""hyperkube image: load images into a node's runtime and list them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import click
import orjson
from hyperkube_command.image.master import manifest
from hyperkube_lib.local_cluster.layout import Layout, default_data_dir

from hyperkube.hookspecs import runtime as specs
from hyperkube.hookspecs.runtime import Runtime
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext, load
from hyperkube.plugin.settings import PluginSettings

DEFAULT_TAG = "docker.io/library/hyperkube:latest"


@click.group()
def command() -> None:
    """Look at, and add to, the images of the node; build hyperkube's own."""


def _runtime(name: str, data_dir: Path) -> Runtime:
    settings = PluginSettings("kubelet", ["runtime"], {"root-dir": str(Layout(data_dir.absolute()).kubelet)})

    def context(plugin: str) -> PluginContext:
        return PluginContext(name=plugin, settings=settings.of("runtime", plugin))

    host = load("runtime", [name], specs, context)
    runtime: Runtime = host.hook.runtime_build()
    return runtime


@command.command("ls")
@click.option("--runtime", default="process", show_default=True, help="the node's runtime plugin")
@click.option("--data-dir", type=click.Path(path_type=Path), default=default_data_dir, help="the cluster's data folder")
def list_images(runtime: str, data_dir: Path) -> None:
    """List the images on the node."""
    rows = [("IMAGE", "ID", "SIZE")]
    rows += [
        (tag, image.id[:19], str(image.size)) for image in _runtime(runtime, data_dir).images() for tag in image.tags
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@command.command("load")
@click.argument("archive", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--runtime", default="process", show_default=True, help="the node's runtime plugin")
def load_image(archive: Path, runtime: str) -> None:
    """Load images from a docker-archive or OCI-archive file into the node's runtime."""
    raise UsageError(
        f"runtime {runtime!r} keeps no images, so {str(archive)!r} cannot be loaded"
        " (the process runtime runs commands of this machine: set image: host)"
    )


@command.command("build")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="the archive to write")
@click.option("--tag", default=DEFAULT_TAG, show_default=True, help="the image's name")
@click.option(
    "--distribution",
    "distributions",
    multiple=True,
    default=["hyperkube"],
    show_default=True,
    help="what is in it, with all that it needs; repeatable, for a small image of a part",
)
def build_image(output: Path, tag: str, distributions: tuple[str, ...]) -> None:
    r"""Write hyperkube's own image, made of what is installed here, as a docker-archive.

    `docker load`, `ctr images import` and `podman load` read it; no engine and no registry is needed to write it.

    \b
    Examples:
      hyperkube image build --output hyperkube.tar
      hyperkube image build --output scheduler.tar --tag scheduler:1 --distribution hyperkube-scheduler-default
    """
    from hyperkube_command.image.build import image
    from hyperkube_lib.image_archive import write_docker_archive

    try:
        built = image(tag, distributions)
    except PackageNotFoundError as error:
        raise UsageError(f"--distribution: {error.name!r} is not installed here") from error
    write_docker_archive(output, [built])
    click.echo(f"{output}: {tag}, {output.stat().st_size >> 20} MiB")


@command.command("manifest")
@click.option("--image", default=DEFAULT_TAG, show_default=True, help="what it runs; host for the process runtime")
def master_manifest(image: str) -> None:
    """Print the static pod of a master: etcd, API server, controller manager and scheduler.

    A kubelet with --config=FOLDER runs what is in the folder.
    """
    click.echo(orjson.dumps(manifest(image), option=orjson.OPT_INDENT_2).decode())
