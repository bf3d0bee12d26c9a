"""The app: frame, menu, page. Start it with `make run`, or `python -m crane_core app`."""

from crane_core.ui.frame import run_app

run_app()
