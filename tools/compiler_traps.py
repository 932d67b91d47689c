#!/usr/bin/env python3
"""compiler_traps.py — which compiler has which of the traps that calm's coroutine code steers around.

Usage: tools/compiler_traps.py [--folder DIR] [--write] [TRAP...]      (default: tests/compiler, all traps)

  --write    record what was found as what is expected

Every file DIR/TRAP.cpp is a probe: a program that prints `has the bug` or `has not`. Its first lines say:

  // trap: what goes wrong
  // flags: -O0; -O2            it is compiled and run once with each of these
  // refused: has the bug       optional: a compiler that does not compile it has the bug; otherwise it cannot tell

DIR/EXPECTED has a column for each compiler and a line for each trap and flags; its cells are `has`, `has not`, or `?` where
nobody has asked yet. Compilers that are not installed are left out. A compiler update that changes an answer is noticed here, and so is a probe that no longer tells.

Exit: 0 with the table; 1 with the findings; 2 with one line: bad usage, no compiler, an unusable file.
"""
import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from console import OneLineParser, Unusable, exit_with, finding

RULE = "each trap of a compiler that calm supports has a probe, and EXPECTED says which compiler has it"
HEADS = ("trap", "flags")
ANSWERS = {"has the bug": "has", "has not": "has not"}
UNKNOWN = "?"
FLAGS = ("-std=c++20", "-Wall", "-Wextra")
RUN_SECONDS_MAX = 60
AT_ONCE = 2
LINE = re.compile(r"^// (trap|flags|refused): (\S.*)$", re.M)


class Probe(NamedTuple):
    trap: str
    path: Path
    about: str
    flags: tuple
    refusal_tells: bool


class Answer(NamedTuple):
    word: str  # has, has not, or "" when the probe does not tell
    output: str


def read_probe(path):
    try:
        said = dict(LINE.findall(path.read_text()))
    except OSError as error:
        raise Unusable(f"compiler_traps.py: cannot read {path}: {error.strerror}") from None
    for word in ("trap", "flags"):
        if word not in said:
            raise Unusable(f"compiler_traps.py: {path.name} has no line `// {word}: ...`")
    flags = tuple(part.strip() for part in said["flags"].split(";"))
    return Probe(path.stem, path, said["trap"], flags, said.get("refused") == "has the bug")


def read_expected(path):
    """The compilers and what is expected of each, by (trap, flags)."""
    try:
        lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    except OSError as error:
        raise Unusable(f"compiler_traps.py: cannot read {path}: {error.strerror}") from None
    rows = [re.split(r" {2,}", line.strip()) for line in lines]
    if not rows or tuple(rows[0][:2]) != HEADS or len(rows[0]) < 3:
        raise Unusable(f"compiler_traps.py: {path} begins with no line `trap  flags  COMPILER...`")
    compilers, expected = rows[0][2:], {}
    for row in rows[1:]:
        if len(row) != len(rows[0]) or not set(row[2:]) <= {*ANSWERS.values(), UNKNOWN}:
            raise Unusable(f"compiler_traps.py: {path}: `{'  '.join(row)}` is no line of the table")
        expected[row[0], row[1]] = dict(zip(compilers, row[2:]))
    return compilers, expected


def ask(probe, compiler, flags):
    """Compiles the probe and runs it."""
    environment = {**os.environ, "LC_ALL": "C"}
    with tempfile.TemporaryDirectory(prefix="calm_trap_") as folder:
        program = Path(folder, "probe")
        built = subprocess.run([compiler, *FLAGS, *flags.split(), probe.path, "-o", program], env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if built.returncode:
            return Answer("has" if probe.refusal_tells else "", built.stdout)
        try:
            ran = subprocess.run([program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 check=False, timeout=RUN_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return Answer("", f"still running after {RUN_SECONDS_MAX} s\n")
    word = ANSWERS.get(ran.stdout.strip(), "") if ran.returncode == 0 else ""
    return Answer(word, ran.stdout + (f"ended with {ran.returncode}\n" if ran.returncode else ""))


def findings(probes, expected, answers):
    for (probe, flags, compiler), answer in answers.items():
        wanted = expected.get((probe.trap, flags), {}).get(compiler, UNKNOWN)
        what = f"{probe.trap} with {compiler} {flags}"
        if not answer.word:
            yield finding(f"{what}: the probe does not tell", RULE,
                          f"repair {probe.path.name}") + f"\nit said:\n{answer.output or '(nothing)'}"
        elif wanted == UNKNOWN:
            yield finding(f"{what}: nothing is expected, the answer is `{answer.word}`", RULE, "add it with --write")
        elif wanted != answer.word:
            yield finding(f"{what}: `{wanted}` is expected, the answer is `{answer.word}` ({probe.about})", RULE,
                          "look at the rules for coroutine code in CONTRIBUTING.md, then record it with --write")
    known = {(probe.trap, flags) for probe in probes for flags in probe.flags}
    for trap, flags in expected:
        if trap in {probe.trap for probe in probes} and (trap, flags) not in known:
            yield finding(f"EXPECTED has `{trap}  {flags}`, and no probe answers it", RULE, "take the line out")


def table(compilers, rows):
    lines = [(*HEADS, *compilers)] + [(*key, *(row[compiler] for compiler in compilers)) for key, row in rows.items()]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "".join("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths)).rstrip() + "\n" for line in lines)


def write_expected(path, compilers, expected, rows):
    """New answers over old ones, so that a compiler that is not installed here keeps its own."""
    comments = [line for line in path.read_text().splitlines() if line.startswith("#")]
    for key, row in rows.items():
        expected[key] = {**dict.fromkeys(compilers, UNKNOWN), **expected.get(key, {}), **row}
    path.write_text("".join(f"{line}\n" for line in comments) + table(compilers, dict(sorted(expected.items()))))


def main():
    parser = OneLineParser("compiler_traps.py", __doc__)
    parser.add_argument("--folder", type=Path, default=Path(__file__).resolve().parents[1] / "tests/compiler")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("traps", nargs="*", metavar="TRAP")
    args = parser.parse_args()
    compilers, expected = read_expected(args.folder / "EXPECTED")
    here = [compiler for compiler in compilers if shutil.which(compiler)]
    if not here:
        raise Unusable(f"compiler_traps.py: none of {' '.join(compilers)} is installed")
    paths = [args.folder / f"{trap}.cpp" for trap in args.traps] or sorted(args.folder.glob("*.cpp"))
    probes = [read_probe(path) for path in paths]
    questions = [(probe, flags, compiler) for probe in probes for flags in probe.flags for compiler in here]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = dict(zip(questions, pool.map(lambda q: ask(q[0], q[2], q[1]), questions)))
    rows = {}
    for (probe, flags, compiler), answer in answers.items():
        rows.setdefault((probe.trap, flags), {})[compiler] = answer.word or UNKNOWN
    print(table(here, rows), end="")
    if args.write and not any(UNKNOWN in row.values() for row in rows.values()):
        write_expected(args.folder / "EXPECTED", compilers, expected, rows)
        _, expected = read_expected(args.folder / "EXPECTED")
    found = list(findings(probes, expected, answers))
    print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    exit_with(main)
