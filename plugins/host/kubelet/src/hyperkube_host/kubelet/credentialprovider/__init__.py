"""Credentials for image registries: from pull secrets, the node's files, and programs.

Source: kubernetes ``pkg/credentialprovider``.
"""
