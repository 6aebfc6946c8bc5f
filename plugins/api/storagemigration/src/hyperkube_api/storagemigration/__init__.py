"""API group storagemigration: StorageVersionMigrations."""
