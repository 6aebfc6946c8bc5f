"""Finds plugins by their sockets, and introduces them to those who use them. Source: ``pkg/kubelet/pluginmanager``."""
