"""contention_page.py — what contention.py found as pictures (SVG) and one page (HTML) that open from disk and load nothing."""
from html import escape

WIDTH = 1000
LEFT = 230  # where bars begin
COLOURS = {"B": "#7a5195", "A": "#2f6fb0", "C": "#2e8b57", "M": "#b3541e", "wait": "#e0b040", "grid": "#d8d8d8",
           "Committed": "#2e8b57", "Aborted": "#b3541e", "Leaked": "#c0202a"}
STYLE = "text{font:12px sans-serif;fill:#222}.head{font-weight:bold}.small{font-size:10px;fill:#666}"


def svg(height, parts, title):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
            f"<title>{escape(title)}</title><style>{STYLE}</style>"
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n")


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(str(words))}</text>'


def bar(x, y, width, colour, tip, height=12, least=1.5):
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, least):.1f}" height="{height}" fill="{colour}">'
            f"<title>{escape(tip)}</title></rect>")


def line(x, y, to_x, to_y, colour="#999"):
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}"/>'


def duration(ns):
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.1f} {unit}"
    return f"{ns:.0f} ns"


class Axis:
    """Times from left to right."""

    def __init__(self, start, end, left=LEFT):
        self.start, self.left = start, left
        self.scale = (WIDTH - left - 20) / max(end - start, 1)

    def x(self, ns):
        return self.left + (ns - self.start) * self.scale

    def grid(self, top, bottom):
        for part in range(6):
            x = self.left + part * (WIDTH - self.left - 20) / 5
            yield line(x, top, x, bottom, COLOURS["grid"])
            yield text(x, top - 4, duration((x - self.left) / self.scale), "small", "middle")


def ratios(rows):
    """How many times as many rounds as one mutex; the thin line is the spread."""
    most = max(1.0, *(row["ratio_max"] for row in rows))
    scale, parts = (WIDTH - LEFT - 60) / most, []
    parts.append(line(LEFT + scale, 8, LEFT + scale, 20 + 22 * len(rows), "#c0202a"))
    for at, row in enumerate(rows):
        y = 14 + 22 * at
        parts.append(text(8, y + 11, f"{row['workload']}, {row['workers']} worker{'s' * (row['workers'] > 1)}"))
        parts.append(bar(LEFT, y, row["ratio"] * scale, COLOURS["A"], f"{row['ratio']:.2f} times one mutex", 14))
        parts.append(line(LEFT + row["ratio_min"] * scale, y + 7, LEFT + row["ratio_max"] * scale, y + 7, "#222"))
        parts.append(text(LEFT + row["ratio_max"] * scale + 6, y + 11, f"{row['ratio']:.2f}"))
    return svg(34 + 22 * len(rows), parts, "rounds of the sharded kernel for each round with one mutex")


def histograms(recorded):
    """A strip for each lock and caller: how many waits, above, and holds, below, fell into each power of two."""
    used = [bucket for run in recorded.values() for row in run["locks"] for what in ("wait", "held")
            for bucket, count in enumerate(row[what]) if count]
    parts, y, buckets = [], 10, max(used, default=0) + 1
    step = (WIDTH - LEFT - 20) / buckets
    for name, run in recorded.items():
        parts.append(text(8, y + 12, name, "head"))
        y += 20
        for row in run["locks"]:
            parts.append(text(16, y + 14, f"{row['shard']}  {row['caller']}  {sum(row['wait'])}"))
            for what, top, colour in (("wait", y, COLOURS["wait"]), ("held", y + 10, COLOURS[row["shard"][0]])):
                most = max(1, *row[what])
                for bucket, count in enumerate(row[what]):
                    if count:
                        height = 2 + 7 * count / most
                        parts.append(bar(LEFT + bucket * step, top + 9 - height, step - 2, colour,
                                         f"{what} below {duration(2 ** bucket)}: {count}", f"{height:.1f}"))
            y += 24
        for bucket in range(0, buckets, 4):
            parts.append(text(LEFT + bucket * step, y + 8, f"<{duration(2 ** bucket)}", "small"))
        y += 22
    return svg(y + 10, parts, "how long locks were waited for (upper bars) and held (lower bars), by caller, in powers of two")


def busiest(acquisitions, count):
    """So many in a row: those with the longest waits for several shards, else those in the shortest time."""
    def interest(start):
        window = acquisitions[start:start + count]
        waited = sum(lock["wait_ns"] for taken in window if len(taken) > 1 for lock, _ in taken)
        return waited, -sum(len(taken) == 1 for taken in window), window[0][0][0]["at_ns"] - window[-1][0][0]["at_ns"]

    starts = range(max(1, len(acquisitions) - count + 1)) if acquisitions else ()
    return acquisitions[max(starts, key=interest, default=0):][:count]


def waterfall(acquisitions):
    """A row for each lock that an operation took: the wait is pale, the hold has the colour of the shard."""
    shown = busiest(acquisitions, 16)
    if not shown:
        return svg(40, [text(8, 24, "no lock was taken")], "acquisition waterfall")
    start = min(lock["at_ns"] - lock["wait_ns"] for taken in shown for lock, _ in taken)
    end = max(lock["at_ns"] + unlock["held_ns"] for taken in shown for lock, unlock in taken)
    axis, parts, y = Axis(start, end), [], 26
    for taken in shown:
        first = taken[0][0]
        parts.append(text(8, y + 11, f"worker {first['worker']}  {first['caller']}"))
        for lock, unlock in taken:
            shard = lock["shard"]
            parts.append(text(LEFT - 24, y + 11, shard))
            if lock["wait_ns"]:
                parts.append(bar(axis.x(lock["at_ns"] - lock["wait_ns"]), y, lock["wait_ns"] * axis.scale, COLOURS["wait"],
                                 f"worker {lock['worker']} waits for {shard}: {duration(lock['wait_ns'])}"))
            parts.append(bar(axis.x(lock["at_ns"]), y, unlock["held_ns"] * axis.scale, COLOURS[shard[0]],
                             f"worker {lock['worker']} holds {shard}: {duration(unlock['held_ns'])}"))
            y += 15
        y += 5
    return svg(y + 10, [*axis.grid(22, y), *parts], "acquisition waterfall: B, then A by worker, then C; back in the other order")


def cancel_graph(cancels, tops=4):
    """Trees: who was cancelled first, and below it the regions and tasks that the cancel went on to."""
    reached = {row["who"] for row in cancels}
    roots = [row for row in sorted(cancels, key=lambda row: row["requested_ns"] or 0) if row["under"] not in reached][:tops]
    parts, y = [], 16

    def draw(row, depth, y, start):
        x = 20 + 120 * depth
        times = [f"{word} {duration(row[key] - start)}" for word, key in
                 (("asked at", "requested_ns"), ("acknowledged at", "acknowledged_ns"), ("ended at", "ended_ns"))
                 if row[key] is not None]
        parts.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{COLOURS["B" if row["who"][0] == "r" else "A"]}"/>')
        parts.append(text(x + 12, y + 4, f"{row['who']}  {row['kind']}  {', '.join(times)}"))
        top = y
        for child in sorted((child for child in cancels if child["under"] == row["who"]), key=lambda child: child["who"]):
            y += 20
            parts.append(line(x, top + 5, x, y))
            parts.append(line(x, y, x + 115, y))
            y = draw(child, depth + 1, y, start)
        return y

    for root in roots:
        parts.append(text(8, y, f"under {root['under'] or 'nothing'}", "small"))
        y = draw(root, 0, y + 16, root["requested_ns"] or 0) + 30
    return svg(y + 10, parts, f"the first {len(roots)} cancels: regions and the tasks in them, times from the request on")


def obligations(promises, shown=48):
    """A row for each promise, from its reservation to its end."""
    some = sorted(promises, key=lambda row: row["reserved_ns"])[:shown]
    if not some:
        return svg(40, [text(8, 24, "no promise was made")], "obligation timeline")
    axis = Axis(some[0]["reserved_ns"], max(row["resolved_ns"] for row in some))
    parts, y = [], 26
    for row in some:
        took = row["resolved_ns"] - row["reserved_ns"]
        parts.append(text(8, y + 10, f"{row['who']}  {row['kind']}  {row['holder']}  worker {row['worker']}"))
        parts.append(bar(axis.x(row["reserved_ns"]), y, took * axis.scale, COLOURS[row["state"]],
                         f"{row['who']} {row['state']} after {duration(took)}", 11, 2))
        parts.append(text(axis.x(row["resolved_ns"]) + 5, y + 10, f"{row['state']} {duration(took)}", "small"))
        y += 15
    return svg(y + 10, [*axis.grid(22, y), *parts], f"the first {len(some)} of {len(promises)} promises")


HEADS = {"ratios": "Rounds for each round with one mutex (red line: as many)",
         "waterfall": "Acquisitions: who took which shard, one after the other",
         "histograms": "Waits and holds by lock and caller",
         "cancel_graph": "Whom a cancel reached", "obligations": "What became of promises"}


def page(pictures, summary, workers):
    sections = "\n".join(f"<h2>{escape(head)}</h2>\n{pictures[name]}" for name, head in HEADS.items())
    return ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>calm: contention</title>\n'
            "<style>body{font:14px sans-serif;margin:24px;max-width:1040px}svg{border:1px solid #ddd}</style></head><body>\n"
            f"<h1>Contention: shards and one mutex, {workers} workers</h1>\n"
            "<p>Point at a bar and its numbers appear. The JSON files beside this page have everything that is drawn here.</p>\n"
            f"{sections}\n<h2>Numbers</h2>\n<pre>{escape(summary)}</pre>\n</body></html>\n")
