"""Server-side apply: typed merges of fields, sets of fields and who manages them (structured-merge-diff)."""
