"""ResourceSlices: the devices that a driver offers."""
