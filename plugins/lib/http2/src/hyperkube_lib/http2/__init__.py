"""HTTP/2: a connection of many streams, for servers behind the HTTP edge and for clients that watch."""
