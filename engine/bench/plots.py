"""Pictures of benchmark reports, as SVG or PNG by the file's name. Needs the extra `bench`."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import InvalidJob

__all__ = ["Line", "plot_lines"]


@dataclass(frozen=True, slots=True)
class Line:
    """Points (x, y) in order; `marker` is matplotlib's."""

    points: Sequence[tuple[float, float]]
    marker: str = "o"


def plot_lines(
    path: Path,
    lines: Mapping[str, Line],
    *,
    x_label: str,
    y_label: str,
    title: str = "",
) -> None:
    """Draw one line a name with a legend. Raises: InvalidJob without the extra."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InvalidJob("plots need the extra: pip install -e '.[bench]'")
    import matplotlib

    matplotlib.use("Agg")
    # Ids by a fixed salt, so that the same numbers give the same file.
    matplotlib.rcParams.update({"svg.hashsalt": "tideline", "svg.fonttype": "none"})
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, line in lines.items():
        axes.plot(*zip(*line.points, strict=True), marker=line.marker, markersize=4, label=name)
    axes.set(xlabel=x_label, ylabel=y_label, title=title)
    axes.grid(visible=True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
