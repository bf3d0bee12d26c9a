"""Kernels of Jupyter servers elsewhere: found over HTTP, looked at over a websocket. Needs the extra `remote`."""
