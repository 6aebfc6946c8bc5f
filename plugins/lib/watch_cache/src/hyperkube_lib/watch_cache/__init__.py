"""The watch cache: stored objects as encoded bytes in memory, their history, and who watches them."""
