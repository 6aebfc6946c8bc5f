"""deployment: moves a deployment's pods from one template to the next through replica sets."""

from hyperkube_controller.deployment.controller import Deployment

__all__ = ["Deployment"]
