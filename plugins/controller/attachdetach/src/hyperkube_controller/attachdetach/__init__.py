"""attachdetach: volumes are attached to the nodes of their pods.

Source: kubernetes ``pkg/controller/volume/attachdetach``.
"""

from hyperkube_controller.attachdetach.controller import Attachdetach

__all__ = ["Attachdetach"]
