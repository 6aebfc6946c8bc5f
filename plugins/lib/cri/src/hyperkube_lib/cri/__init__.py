"""The Container Runtime Interface, version 1: its messages, and a client with a deadline for every call."""

from hyperkube_lib.cri.client import CriClient
from hyperkube_lib.cri.schema import IMAGE_SERVICE, RUNTIME_SERVICE, cri_schema

__all__ = ["IMAGE_SERVICE", "RUNTIME_SERVICE", "CriClient", "cri_schema"]
