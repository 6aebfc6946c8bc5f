"""csi-modifier: gives volumes the attributes of the VolumeAttributesClass that their claims ask for.

Source: github.com/kubernetes-csi/external-resizer ``pkg/modifycontroller``, ``pkg/modifier``.
"""

from hyperkube_controller.csi_modifier.controller import CsiModifier

__all__ = ["CsiModifier"]
