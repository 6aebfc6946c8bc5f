"""The storage classes of the driver."""

from hyperkube_addon.csi_host_path import DRIVER, CsiHostPath
from hyperkube_csi.host_path.settings import NAME

from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.addon import AddonContract


class TestContract(AddonContract):
    def build(self):
        return CsiHostPath(PluginContext(name="csi-host-path"))


def test_one_class_is_the_default_and_both_are_of_the_driver():
    driver, *classes = TestContract().build().addon_objects()
    marked = [each["metadata"]["name"] for each in classes if each["metadata"].get("annotations")]

    assert driver["metadata"]["name"] == DRIVER == NAME
    assert {each["provisioner"] for each in classes} == {NAME}
    assert marked == ["csi-host-path"]
