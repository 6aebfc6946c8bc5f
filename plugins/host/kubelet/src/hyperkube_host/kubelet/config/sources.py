"""The sources of static pods that the options name.

Source: kubernetes ``pkg/kubelet/kubelet.go`` (makePodSourceConfig).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hyperkube_host.kubelet.config.manifest_source import ManifestSource, read_folder, read_url
from hyperkube_host.kubelet.config.pod_sink import PodSink
from hyperkube_host.kubelet.options import SourceOptions

from hyperkube.machinery.clock import Clock


def static_sources(options: SourceOptions, node_name: str, clock: Clock, sink: PodSink) -> list[ManifestSource]:
    """Return a source for the manifest folder and one for the manifest URL, as far as they are given."""
    sources = []
    if options.manifest_path:
        read = partial(read_folder, Path(options.manifest_path))
        sources.append(ManifestSource("file", read, options.file_check_seconds, node_name, clock, sink))
    if options.manifest_url:
        read = partial(read_url, options.manifest_url, options.manifest_header, clock)
        sources.append(ManifestSource("http", read, options.http_check_seconds, node_name, clock, sink))
    return sources
