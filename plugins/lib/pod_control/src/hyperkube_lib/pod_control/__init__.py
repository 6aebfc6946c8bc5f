"""How controllers create and delete pods: in slow-start batches, with expectations, the least missed ones first."""

from hyperkube_lib.pod_control.control import Outcome, PodControl
from hyperkube_lib.pod_control.ranks import deletion_order
from hyperkube_lib.pod_control.slow_start import CONCURRENCY, Failure, all_at_once, slow_start_batch

__all__ = ["CONCURRENCY", "Failure", "Outcome", "PodControl", "all_at_once", "deletion_order", "slow_start_batch"]
