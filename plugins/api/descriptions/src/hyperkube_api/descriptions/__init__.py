"""Descriptions of types, fields and parameters, read from client libraries when a document or a table needs them."""
