"""`figures`: all figures of a folder with their captions, whole or not at all, the same bytes for the same data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import altair as alt
import pandas as pd
import pytest

from crane_core.pipeline.fresh_folder import renewed_folder
from crane_core.pipeline.places import DataFolder
from crane_core.site import figures
from crane_core.ui.caption import Caption
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.study_figures import PlacedFigure
from tests.spoken import Run, speaker


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def two_figures() -> Iterator[PlacedFigure]:
    """Figures of one name, whose words mean something in Markdown and LaTeX."""
    table = pd.DataFrame({"Detector": ["GPT-5"], "value": [0.5]})
    spec = alt.Chart(table).mark_point().encode(x="value:Q").to_dict()
    for kind in ("llm", "rules"):
        caption = Caption("Is *this* <b>so</b>?", "n_1: 5%.", "Data: own.")
        figure = ChartFigure("gain", [spec], table, table, caption)
        yield PlacedFigure("results", ("b", "e"), {"kind": kind}, figure)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "study_figures", two_figures)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "figures"


@pytest.mark.slow
def test_each_figure_has_files_a_caption_and_its_view(
    whole_folder: DataFolder, capsys: pytest.CaptureFixture[str], out: Path
) -> None:
    run = speaker(whole_folder.path, capsys)
    assert run("figures", "--out", str(out), "--format", "svg,tex").code == 0
    told = (out / "figures.md").read_text("utf-8")
    files = re.findall(r"\]\(([\w.-]+)\)", told)
    assert {*files, "figures.md"} == set(contents(out))
    n_figures = len([name for name in files if name.endswith(".svg")])
    assert n_figures > 10
    assert len(re.findall(r"^In the app: `\w+\?", told, re.M)) == n_figures
    gain = "results_junobench_crane-llm-2025-10_llm_accuracy_gain.svg"
    assert 'width="85mm"' in (out / gain).read_text("utf-8")
    section = told.split(f"[{gain}]")[1].split("###")[0]
    assert "222 instances of 111 cases" in section
    assert "Holm-adjusted" in section
    assert "arXiv:2602.18537" in section
    assert "part=Runtime+state" in section


@pytest.mark.usefixtures("two")
def test_figures_of_one_name_have_files_of_their_own(
    run: Run, out: Path
) -> None:
    done = run(
        "figures", "--out", str(out), "--width", "178", "--theme", "dark"
    )
    assert done.out == f"{out}: 2 figures; their captions are in figures.md\n"
    stems = ("results_b_e_gain", "results_b_e_gain-2")
    forms = ("svg", "pdf", "png")
    names = {f"{stem}.{form}" for stem in stems for form in forms}
    assert set(contents(out)) == {"figures.md", "figures.tex", *names}
    svg = (out / "results_b_e_gain.svg").read_text("utf-8")
    assert 'width="178mm"' in svg and 'fill="#0e1117"' in svg
    told = (out / "figures.md").read_text("utf-8")
    assert "### Is \\*this\\* \\<b\\>so\\</b\\>?" in told
    assert "In the app: `results?kind=rules`" in told


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("width", "name"), [("85", "figure"), ("178", "figure*")]
)
def test_with_pdf_each_figure_is_a_float_for_latex(
    run: Run, out: Path, width: str, name: str
) -> None:
    run("figures", "--out", str(out), "--format", "pdf", "--width", width)
    told = (out / "figures.tex").read_text("utf-8")
    assert (
        told.count(rf"\begin{{{name}}}") == told.count(rf"\end{{{name}}}") == 2
    )
    for stem in ("results_b_e_gain", "results_b_e_gain-2"):
        assert rf"\includegraphics{{{stem}.pdf}}" in told
        assert rf"\label{{fig:{stem}}}" in told
    assert r"]{Is *this* \textless{}b\textgreater{}so" in told
    assert r"n\_1: 5\%. Data: own.}" in told
    # The next call knows that the file is its own.
    run("figures", "--out", str(out), "--format", "csv")
    assert "figures.tex" not in contents(out)


@pytest.mark.usefixtures("two")
def test_the_same_data_give_the_same_bytes(
    run: Run, out: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    for folder in (out, again):
        run("figures", "--out", str(folder), "--format", "pdf,csv")
    assert contents(out) == contents(again)
    assert any(name.endswith(".pdf") for name in contents(out))


@pytest.mark.usefixtures("two")
def test_its_own_folder_is_renewed_and_files_of_others_stay(
    run: Run, out: Path
) -> None:
    run("figures", "--out", str(out), "--format", "csv")
    (out / "paper.tex").write_text("mine")
    assert run("figures", "--out", str(out), "--format", "md").code == 0
    assert (out / "paper.tex").read_text() == "mine"
    assert not list(out.glob("*.csv"))
    assert [path.name for path in out.parent.glob(".figures*")] == []


@pytest.mark.usefixtures("two")
def test_a_folder_of_others_is_refused_unless_asked(
    run: Run, out: Path
) -> None:
    out.mkdir()
    (out / "paper.tex").write_text("mine")
    refused = run("figures", "--out", str(out), "--format", "csv")
    assert refused.code == 1
    assert "--force" in refused.err
    assert set(contents(out)) == {"paper.tex"}
    forced = run("figures", "--out", str(out), "--format", "csv", "--force")
    assert forced.code == 0
    assert {"paper.tex", "figures.md"} < set(contents(out))


@pytest.mark.usefixtures("two")
def test_a_file_that_is_in_the_way_changes_nothing(run: Run, out: Path) -> None:
    out.mkdir()
    (out / "figures.md").write_text("mine")
    refused = run("figures", "--out", str(out), "--format", "csv", "--force")
    assert refused.code == 1
    assert contents(out) == {"figures.md": b"mine"}


def test_a_stop_leaves_the_folder_as_it_was(out: Path) -> None:
    out.mkdir()
    (out / "old.svg").write_text("old")

    def stop_halfway() -> None:
        with renewed_folder(out, {"old.svg"}) as fresh:
            (fresh / "new.svg").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_halfway()
    assert contents(out) == {"old.svg": b"old"}
    assert [path.name for path in out.parent.iterdir()] == ["figures"]


def test_an_unknown_format_is_wrong_usage(run: Run, out: Path) -> None:
    with pytest.raises(SystemExit) as left:
        run("figures", "--out", str(out), "--format", "svg,gif")
    assert left.value.code == 2
    assert not out.exists()
