"""Python itself: which functions are tried on objects of libraries, and of which only arguments are checked."""

from __future__ import annotations

from .places import words

BUILTINS = words(
    "abs bool complex enumerate float int iter len list max min range round set sorted sum tuple zip"
)
"""Its own functions, tried where one of the operands is a library's."""
MODULES = words(
    "builtins bisect cmath collections datetime decimal functools heapq itertools math operator weakref"
)
"""Its own modules that are asked which arguments they take, under the kernel's own version of Python."""
# May be called with a useless object: nothing is opened, run or changed.
ONLY_LOOKING = words(
    "abs all any ascii bin bool bytearray bytes callable chr classmethod complex delattr dict divmod enumerate filter"
    " float frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map max memoryview min next"
    " oct ord pow print property range repr reversed round set slice sorted staticmethod str sum tuple type vars zip"
)
"""Its own functions and classes that only look at what they get, or print it."""
PARSING = words("bool int float complex")
