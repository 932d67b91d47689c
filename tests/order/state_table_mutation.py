#!/usr/bin/env python3
"""state_table_mutation.py — a state table with a row removed or changed does not compile, and the message names the law.

Usage: tests/order/state_table_mutation.py [--root DIR] [--compiler CXX]

Each header below has one row per line between `// moves-begin` and `// moves-end`: `{State::from, State::to},`. Every row is
removed once, and once led to a state it must not lead to. The changed header stands in a folder of its own that the compiler
searches before the tree. The unchanged header must compile; every other must fail in a static_assert of the law.

Exit: 0 when every change was caught; 1 with every finding; 2 when the usage is wrong or a table cannot be read.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

TABLES = {"REG-1": "calm/model/region_state.hpp", "TSK-1": "calm/model/task_state.hpp",
          "OBL-1": "calm/model/obligation_state.hpp"}
ROW = re.compile(r"\s*\{(?P<enum>\w+)::(?P<source>\w+), (?P=enum)::(?P<target>\w+)\},")


class Unusable(Exception):
    """The table cannot be read, so nothing can be said about it."""


class Change(NamedTuple):
    law: str
    header: str
    line: int
    what: str
    text: str


def table_rows(header, lines):
    """The rows of a table, as (index of the line, match)."""
    words = [line.strip() for line in lines]
    if words.count("// moves-begin") != 1 or words.count("// moves-end") != 1:
        raise Unusable(f"{header}: expected one line `// moves-begin` and one line `// moves-end`")
    rows = [(index, ROW.match(lines[index]))
            for index in range(words.index("// moves-begin") + 1, words.index("// moves-end"))]
    for index, row in rows:
        if not row:
            raise Unusable(f"{header}:{index + 1}: expected a row `{{State::from, State::to}},`, found `{words[index]}`")
    if not rows:
        raise Unusable(f"{header}: the table has no rows")
    return rows


def changes(root, law, header):
    """The header without each of its rows, and with each row led to a state that its source must not reach."""
    lines = (root / header).read_text().splitlines()
    rows = table_rows(header, lines)
    legal = {(row["source"], row["target"]) for _, row in rows}
    states = sorted({state for move in legal for state in move})
    for index, row in rows:
        removed = lines[:index] + lines[index + 1:]
        yield Change(law, header, index + 1, f"without the row {row[0].strip()}", "\n".join(removed))
        target = next(state for state in states if (row["source"], state) not in legal)
        changed = f"{{{row['enum']}::{row['source']}, {row['enum']}::{target}}},"
        yield Change(law, header, index + 1, f"with the row {row[0].strip()} changed to {changed}",
                     "\n".join(lines[:index] + [changed] + lines[index + 1:]))


def compiler_output(root, compiler, header, text):
    """What the compiler says to a program that includes the header with this text, and whether it accepts it."""
    with tempfile.TemporaryDirectory(prefix="calm_mutation_") as folder:
        path = Path(folder, header)
        path.parent.mkdir(parents=True)
        path.write_text(text + "\n")
        command = [compiler, "-std=c++20", "-fsyntax-only", "-I", folder, "-I", root, "-x", "c++", "-"]
        ran = subprocess.run(command, input=f'#include "{header}"\n', cwd=folder, capture_output=True, text=True,
                             check=False)
    return ran.returncode == 0, ran.stderr


def finding(what, law, next_step, said=""):
    quoted = "".join(f"  {line}\n" for line in said.splitlines()[:5])
    rule = f"{law}: the table is the law, and the compiler holds it to that"
    return f"calm: {what}\n{quoted}  rule: {rule}\n  next: {next_step}"


def caught(change, said):
    return any("static assertion failed" in line and f"{change.law}:" in line and change.header in line
               for line in said.splitlines())


def judge_change(root, compiler, change):
    compiles, said = compiler_output(root, compiler, change.header, change.text)
    place, next_step = f"{change.header}:{change.line}", f'add a static_assert(..., "{change.law}: ...") beside the table'
    if compiles:
        return finding(f"{place} compiles {change.what}", change.law, next_step)
    if not caught(change, said):
        return finding(f"{place} {change.what} fails without naming {change.law}", change.law, next_step, said)
    return None


def judge_control(root, compiler, law, header):
    compiles, said = compiler_output(root, compiler, header, (root / header).read_text())
    return None if compiles else finding(f"{header} does not compile as it is", law, "repair the header first", said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--compiler", default="clang++-19")
    args = parser.parse_args()
    root = args.root.resolve()
    findings = [found for law, header in TABLES.items() if (found := judge_control(root, args.compiler, law, header))]
    mutants = [change for law, header in TABLES.items() for change in changes(root, law, header)]
    if not findings:
        with ThreadPoolExecutor(2) as pool:
            judged = pool.map(lambda change: judge_change(root, args.compiler, change), mutants)
            findings = [found for found in judged if found]
    print(*findings or [f"mutation: ok ({len(mutants)} changes to {len(TABLES)} tables, none compiles)"], sep="\n")
    return int(bool(findings))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Unusable, OSError) as reason:
        print(f"state_table_mutation.py: {reason}", file=sys.stderr)
        sys.exit(2)
