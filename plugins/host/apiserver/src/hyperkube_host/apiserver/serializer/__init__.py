"""Media types: what a client sends is decoded, what it accepts is encoded, as objects, lists, tables and watches."""
