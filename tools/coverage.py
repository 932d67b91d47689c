#!/usr/bin/env python3
"""coverage.py — how much of calm/ the tests run: a table on the terminal, pages in build/coverage/html.

Usage: tools/coverage.py --build DIR      DIR is a build with CALM_COVERAGE=ON (preset coverage)
       [--root DIR]

Runs every test of DIR, adds the profiles up and asks llvm-cov about the files under calm/. The HTML shows every line.

Exit: 0; 1 when a test fails or less than 95 % of the lines of calm/ were run; 2 with one line: bad usage or no tools.
"""
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from console import OneLineParser, Unusable, exit_with

LINE_PERCENT_MIN = 95.0
PROFDATA, COV = "llvm-profdata-19", "llvm-cov-19"
METRICS = ("lines", "functions", "branches")


class Row(NamedTuple):
    name: str
    counts: dict  # metric -> (covered, count)

    def percent(self, metric):
        covered, count = self.counts[metric]
        return 100.0 * covered / count if count else 100.0


def run(*words, **options):
    try:
        return subprocess.run([str(word) for word in words], check=False, text=True, **options)
    except OSError:
        raise Unusable(f"coverage.py: cannot run {words[0]}; install it, or let ./dev coverage do that") from None


def ask(*words):
    ran = run(*words, capture_output=True)
    if ran.returncode:
        raise Unusable(f"coverage.py: {words[0]} failed: {' '.join(ran.stderr.split())[:300]}")
    return ran.stdout


def profile_name(build):
    """One file per process (%p). With %c counters go straight to the file, so that a death test, which ends in abort(),
    counts as well; the compiler must have prepared the program for that."""
    commands = build / "compile_commands.json"
    survives = commands.is_file() and "-runtime-counter-relocation" in commands.read_text()
    return "%p%c.profraw" if survives else "%p.profraw"


def run_tests(build, profiles):
    """Runs ctest and says which tests fail; true when none does."""
    if not (build / "CTestTestfile.cmake").is_file():
        raise Unusable(f"coverage.py: {build} is not a build with tests; ./dev coverage makes one")
    shutil.rmtree(profiles, ignore_errors=True)
    profiles.mkdir(parents=True)
    environment = {**os.environ, "LLVM_PROFILE_FILE": str(profiles / profile_name(build))}
    ran = run("ctest", "--test-dir", build, "--parallel", os.cpu_count() or 1, env=environment, capture_output=True)
    if ran.returncode:
        print("calm: " + "\n".join(failures(ran.stdout + ran.stderr)))
        print("  rule: coverage counts when all tests pass\n  next: ./dev test")
    return ran.returncode == 0


def failures(output):
    """The end of what ctest said, from the list of failed tests on."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    start = next((place for place, line in enumerate(lines) if line.startswith("The following tests")), len(lines) - 1)
    return lines[start:]


def merge(profiles):
    raw = sorted(profiles.glob("*.profraw"))
    if not raw:
        raise Unusable("coverage.py: the tests left no profiles; is this a build with CALM_COVERAGE=ON?")
    merged = profiles / "all.profdata"
    ask(PROFDATA, "merge", "-sparse", *raw, "-o", merged)
    return merged


def programs(build):
    """Every program of the build that contains calm: tests, examples, tools."""
    found = [path for top in ("tests", "examples", "apps") for path in sorted((build / top).rglob("*"))
             if path.is_file() and not path.suffix and os.access(path, os.X_OK)]
    return [path for path in found if path.read_bytes()[:4] == b"\x7fELF"]


def objects(found):
    """llvm-cov takes the first program plain and the others as -object."""
    return [found[0], *(word for path in found[1:] for word in ("-object", path))]


def read_rows(root, exported):
    rows = []
    for file in json.loads(exported)["data"][0]["files"]:
        summary = file["summary"]
        counts = {metric: (summary[metric]["covered"], summary[metric]["count"]) for metric in METRICS}
        rows.append(Row(Path(file["filename"]).relative_to(root).as_posix(), counts))
    return sorted(rows)


def total(rows):
    sums = {metric: tuple(sum(row.counts[metric][i] for row in rows) for i in (0, 1)) for metric in METRICS}
    return Row("calm/ in all", sums)


def show(rows):
    width = max(len(row.name) for row in rows)
    print(f"{'file':<{width}}" + "".join(f"{metric:>18}" for metric in METRICS))
    for row in rows:
        cells = (f"{row.percent(metric):6.1f} % of {row.counts[metric][1]:4}" for metric in METRICS)
        print(f"{row.name:<{width}}" + "".join(f"{cell:>18}" for cell in cells))


def main():
    parser = OneLineParser("coverage.py", __doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--build", type=Path, required=True, metavar="DIR")
    args = parser.parse_args()
    root, build = args.root.resolve(), args.build.resolve()
    passed = run_tests(build, build / "profiles")
    merged = merge(build / "profiles")
    found = programs(build)
    if not found:
        raise Unusable(f"coverage.py: no test program in {build}")
    question, pages = [*objects(found), f"-instr-profile={merged}"], root / "build/coverage/html"
    sources = ["-sources", root / "calm"]
    rows = read_rows(root, ask(COV, "export", *question, "-summary-only", *sources))
    shutil.rmtree(pages, ignore_errors=True)
    ask(COV, "show", *question, "-format=html", f"-output-dir={pages}", "-show-branches=count", *sources)

    whole = total(rows)
    show([*rows, whole])
    print(f"coverage: {whole.percent('lines'):.1f} % of the lines of calm/, at least {LINE_PERCENT_MIN:.0f} % wanted; "
          f"pages in {os.path.relpath(pages)}/index.html")
    if whole.percent("lines") < LINE_PERCENT_MIN:
        worst = min(rows, key=lambda row: row.counts["lines"][0] - row.counts["lines"][1])
        print(f"calm: the tests run too little of calm/, least of {worst.name}\n"
              f"  rule: at least {LINE_PERCENT_MIN:.0f} % of the lines\n"
              f"  next: look at its red lines in {os.path.relpath(pages)}/index.html and write the missing test")
        return 1
    return 0 if passed else 1


if __name__ == "__main__":
    exit_with(main)
