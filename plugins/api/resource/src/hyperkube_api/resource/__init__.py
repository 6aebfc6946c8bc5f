"""API group resource: ResourceClaims, ResourceSlices and DeviceClasses."""
