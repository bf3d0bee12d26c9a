"""One file per library, found by its name (`for_<package>.py`), and a room for each that needs several."""
