#!/usr/bin/env python3
"""probes.py — adds up the probes of a test run and names those of calm that nothing has hit.

Usage: tools/probes.py FILE

FILE is what the test programs append to under CALM_PROBE_LOG: lines `hits<TAB>file:line<TAB>name`, each program with
all the probes it was linked with. Probes outside calm/ are the tests' own and do not count.

Exit: 0, also when there is no FILE; 2 with one line for bad usage.
"""
import re
import sys
from pathlib import Path

LINE = re.compile(r"(\d+)\t(calm/[^\t]+):(\d+)\t(.+)")


def add_up(text):
    """Hits by (file, line, name)."""
    totals = {}
    for line in text.splitlines():
        if hit := LINE.fullmatch(line):
            probe = (hit[2], int(hit[3]), hit[4])
            totals[probe] = totals.get(probe, 0) + int(hit[1])
    return totals


def summary(path):
    """The lines to print about a log."""
    totals = add_up(path.read_text(errors="replace")) if path.is_file() else {}
    if not totals:
        return ["probes: none recorded"]
    never = sorted(probe for probe, hits in totals.items() if hits == 0)
    return [f"probes: {len(totals) - len(never)} of {len(totals)} hit",
            *(f"  never hit: {file}:{line} {name}" for file, line, name in never)]


def main(words):
    if len(words) != 1 or words[0].startswith("-"):
        print("usage: tools/probes.py FILE", file=sys.stdout if words in (["-h"], ["--help"]) else sys.stderr)
        return 0 if words in (["-h"], ["--help"]) else 2
    print(*summary(Path(words[0])), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
