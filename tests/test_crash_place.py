"""Where a crash is: by the text of the line that the traceback or the ground truth names, else nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.crash_place import CrashPlace, crash_place, traceback_text

CODE = "lanes = read()\ncounts = np.bincount(lanes)\nprint(counts)"
TRACEBACK = """---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[4], line 7
      5 lanes = read()
      6 # a comment that the published input lacks
----> 7 counts = np.bincount(lanes)
      8 print(counts)

File library.py:12, in bincount(x)
---> 12     raise ValueError(x)

ValueError: no negative numbers"""


def line(
    traceback: str | None, code: str, diagnosis: str | None = None
) -> int | None:
    place = crash_place(traceback, diagnosis, code)
    return place.line if place else None


def test_the_line_is_found_by_its_text_and_keeps_its_number_in_the_traceback() -> (
    None
):
    assert crash_place(TRACEBACK, None, CODE) == CrashPlace(2, 7)


def test_the_indentation_and_a_comment_may_differ() -> None:
    assert line(TRACEBACK, CODE.replace("counts = ", "    counts = ")) == 2
    assert line(TRACEBACK.replace("lanes)", "lanes)  # per # lane"), CODE) == 2
    assert (
        line(
            TRACEBACK.replace("bincount(lanes)", "bincount('#')  # x"),
            CODE.replace("t(lanes)", "t('#')"),
        )
        == 2
    )


def test_of_equal_lines_it_is_the_one_between_the_same_neighbours() -> None:
    code = (
        CODE + "\n" * 9 + "total = 0\ncounts = np.bincount(lanes)\nplot(total)"
    )
    assert line(TRACEBACK, code) == 2
    assert (
        line(
            TRACEBACK.replace("lanes = read()", "total = 0").replace(
                "print(counts)", "plot(total)"
            ),
            code,
        )
        == 13
    )


def test_a_frame_of_a_library_above_the_cell_is_passed_over() -> None:
    above = "File pandas.py:3, in get(key)\n      2 try:\n----> 3     lanes = read()\n\n"
    assert line(above + TRACEBACK, CODE) == 2


def test_an_edited_line_is_the_most_similar_one() -> None:
    assert (
        line(TRACEBACK, CODE.replace("np.bincount(lanes)", "np.bincount(lane)"))
        == 2
    )
    assert (
        line(
            TRACEBACK,
            CODE.replace(
                "counts = np.bincount(lanes)", "model.fit(x, epochs=2)"
            ),
        )
        is None
    )


def test_a_line_that_the_traceback_lacks_is_the_one_that_the_diagnosis_quotes() -> (
    None
):
    code = "data = load()\nhistory = model.fit(data, epochs=2)\nprint(history)"
    assert crash_place(
        TRACEBACK, "It crashes in model.fit() because of the shape.", code
    ) == CrashPlace(2)
    assert crash_place(
        None, 'Crash in "model.fit(data, epochs=2)".', code
    ) == CrashPlace(2)
    assert crash_place(
        None, "The key `load()` is missing.", code
    ) == CrashPlace(1)
    assert crash_place(None, "model.fit() crashes.", code + "\n" + code) is None


def test_a_traceback_that_was_recorded_as_a_list_is_read() -> None:
    assert traceback_text(repr(TRACEBACK.splitlines())) == TRACEBACK
    assert line(repr(TRACEBACK.splitlines()), CODE) == 2
    assert traceback_text("[cut off") == "[cut off"


def test_a_list_that_was_cut_off_is_read_up_to_there() -> None:
    whole = repr(TRACEBACK.splitlines())
    cut = whole[: whole.index("ValueError: no negative") + 9]
    assert traceback_text(cut) == "\n".join(TRACEBACK.splitlines()[:-1])
    assert line(cut, CODE) == 2
    assert traceback_text("['one', '\\xZZ', 'three") == "one"


@pytest.mark.parametrize(
    "place",
    [
        "Cell In[5], line 2",
        '  File "<ipython-input-5-ab>", line 2',
        "Input In [5], line 2",
    ],
)
def test_a_cell_that_python_cannot_read_has_a_line_without_an_arrow(
    place: str,
) -> None:
    traceback = f"{place}\n    x = = 3\n        ^\nSyntaxError: invalid syntax"
    assert crash_place(traceback, None, "y = 1\nx = = 3") == CrashPlace(2, 2)


@pytest.mark.parametrize(
    ("traceback", "code"),
    [
        (None, CODE),
        ("", CODE),
        ("ValueError: no arrow", CODE),
        (TRACEBACK, ""),
        (TRACEBACK, "print(1)"),
        (TRACEBACK, "counts = np.bincount(lanes)\ncounts = np.bincount(lanes)"),
        ("----> 3 ", "\n\n"),
        ("----> 3", "x"),
        ("----> x counts = 1", "counts = 1"),
    ],
)
def test_no_line_where_it_is_not_certain(
    traceback: str | None, code: str
) -> None:
    assert line(traceback, code) is None


@given(
    traceback=st.text(max_size=300),
    diagnosis=st.text(max_size=200),
    code=st.text(max_size=200),
)
def test_any_text_gives_a_written_line_or_none(
    traceback: str, diagnosis: str, code: str
) -> None:
    found = line(f"----> 1 {traceback}", code, diagnosis)
    assert found is None or code.splitlines()[found - 1].strip()
