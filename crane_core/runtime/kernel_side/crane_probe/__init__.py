"""The probe: looks at a live namespace from inside the notebook's kernel and tells what the target cell will meet.

Knows the standard library and Python 3.8 syntax, so that it runs in whatever interpreter the notebook has. Refuses to
import what the notebook has not imported, to run code of the notebook, and to change anything that it looks at.
"""
