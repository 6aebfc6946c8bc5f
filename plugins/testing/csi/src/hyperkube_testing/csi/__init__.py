"""What every CSI driver promises: subclass `CsiDriverContract` and give it the driver.

The promises are those of the specification (github.com/container-storage-interface/spec ``spec.md``), as far as its own
``csi-test`` asks for them too: names, codes of refusals, and that each call may come twice.
"""

from hyperkube_testing.csi.driver import CsiDriverContract

__all__ = ["CsiDriverContract"]
