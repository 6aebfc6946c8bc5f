"""Container images written in Python, without Docker and without a registry.

A docker-archive is what ``docker save`` writes; ``docker load``, ``ctr images import`` and ``podman load`` read it.
"""

from hyperkube_lib.image_archive.archive import Image, write_docker_archive
from hyperkube_lib.image_archive.layer import Layer
from hyperkube_lib.image_archive.programs import add_program, shared_libraries

__all__ = ["Image", "Layer", "add_program", "shared_libraries", "write_docker_archive"]
