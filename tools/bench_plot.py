"""bench_plot.py — the rows of bench.py as pictures: one SVG for each peer workload, and one of all ratios to calm."""
import math
from html import escape

import peers

COLOURS = {"calm": "#0b6e4f", "calm_multi": "#5fb08f", "floor": "#9a9a9a", "tokio": "#c2571a",
           "tokio_multi": "#e39a6c", "go": "#1f77b4", "asio": "#7b4fa3", "tbb": "#b8860b"}
STYLE = ("<style>text{font:13px sans-serif;fill:#222}.small{font-size:11px;fill:#555}"
         "@media(prefers-color-scheme:dark){svg{background:#1b1b1b}text{fill:#eee}.small{fill:#aaa}}</style>")
LEFT, WIDTH, RIGHT, STEP, TOP = 110, 480, 170, 26, 56


def document(height, *parts):
    width = LEFT + WIDTH + RIGHT
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
            f"{STYLE}{''.join(parts)}</svg>\n")


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'


def bars(workload, rows):
    """Medians as bars, with a line from the least to the most."""
    most = max(row.max_ns for row in rows) or 1
    parts = [text(12, 22, workload.name), text(12, 40, f"{workload.unit} per operation: {workload.about}", "small")]
    for index, row in enumerate(rows):
        y = TOP + index * STEP
        length, low, high = (WIDTH * ns / most for ns in (row.median_ns, row.min_ns, row.max_ns))
        colour = COLOURS[row.contender]
        parts += [text(LEFT - 8, y + 14, f"{row.contender} ×{row.workers}", anchor="end"),
                  f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="18" fill="{colour}"/>',
                  f'<path d="M{LEFT + low:.1f} {y + 9}H{LEFT + high:.1f}" stroke="#000" stroke-opacity=".6"/>',
                  text(LEFT + max(length, high) + 6, y + 14, f"{row.median_ns:.1f}")]
    return document(TOP + len(rows) * STEP + 12, *parts)


def ratios(tables):
    """Every contender as a dot, by its time divided by that of calm with as many workers; the scale is logarithmic."""
    dots = {}
    for rows in tables.values():
        for row in rows:
            ours = peers.base_of(rows, peers.OURS, row.workers)
            if ours and row is not ours and row.median_ns and ours.median_ns:
                dots.setdefault((row.workload, row.workers), []).append((row.contender, row.median_ns / ours.median_ns))
    every = [abs(math.log10(value)) for found in dots.values() for _, value in found]
    reach = max([1.0, *every])
    place = lambda value: LEFT + 60 + (WIDTH - 60) * (math.log10(value) / reach + 1) / 2  # noqa: E731
    bottom = TOP + len(dots) * STEP
    parts = [text(12, 22, "times the time of calm; right of 1 is slower than calm")]
    for power in range(-math.floor(reach), math.floor(reach) + 1):
        x = place(10.0 ** power)
        parts += [f'<path d="M{x:.1f} {TOP - 8}V{bottom}" stroke="#888" stroke-opacity=".5"/>',
                  text(x, TOP - 12, f"{10.0 ** power:g}", "small", "middle")]
    for index, ((name, workers), found) in enumerate(dots.items()):
        y = TOP + index * STEP + 12
        parts.append(text(LEFT + 50, y + 4, f"{name} ×{workers}", anchor="end"))
        parts += [f'<circle cx="{place(value):.1f}" cy="{y}" r="5" fill="{COLOURS[contender]}">'
                  f"<title>{escape(contender)} {value:.2f}</title></circle>" for contender, value in found]
    for index, (contender, colour) in enumerate(COLOURS.items()):
        y = TOP + index * 20
        parts += [f'<circle cx="{LEFT + WIDTH + 50}" cy="{y}" r="5" fill="{colour}"/>',
                  text(LEFT + WIDTH + 62, y + 4, contender)]
    return document(max(bottom, TOP + len(COLOURS) * 20) + 16, *parts)


def write(folder, workloads, tables):
    """Needs: tables of peer rows by workload. Gives: how many files were written."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        (folder / f"{name}.svg").write_text(bars(workloads[name], rows))
    (folder / "ratios.svg").write_text(ratios(tables))
    return len(tables) + 1
