"""API group storage: StorageClasses, VolumeAttachments and CSI kinds."""
