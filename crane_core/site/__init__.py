"""The read-only site: what pages show as HTML files that open from disk, without a server, a script or a network."""
