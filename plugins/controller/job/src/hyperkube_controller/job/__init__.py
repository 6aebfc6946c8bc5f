"""job: runs pods of a template until enough of them have succeeded, or too many have failed."""

from hyperkube_controller.job.controller import Job

__all__ = ["Job"]
