#!/usr/bin/env python3
"""laws.py — every law of the spec has a test, or a line in spec/NOT_YET that says what it waits for.

Usage: tools/laws.py --tests FILE                     FILE is the output of `ctest --show-only=json-v1`
       tools/laws.py --tests - --build DIR            asks ctest in DIR (another one with --ctest PROGRAM)
       [--root DIR] [--spec FILE] [--not-yet FILE] [--source DIR...]

A law is a bullet of the spec: `- CAN-4 ...`, or `- **I2 close is quiet** ...` for a promise. A test carries the laws that
its name starts with: Cancel.CAN_4_a_second_cancel, Suite/Cancel.CAN_4_x/3, order.REG_1_TSK_1_x, Close.I2_x. Code names a
law as CAN-4, CAN_4, CAN-1,2,4 or CAN-1..8. Every test of the program calm_law_tests carries a law.

spec/NOT_YET has `# comments` and lines `LAW  what it waits for`; below a line `[partly]` stand the laws whose tests cover
only the part that exists: `LAW  what is still missing`. The list only gets shorter: in a git checkout it is compared with
its committed versions.

Exit: 0 with a summary; 1 with every finding; 2 with one line: bad usage or an unreadable input.
"""
import json
import re
import subprocess
import tempfile
import textwrap
from pathlib import Path
from typing import NamedTuple

from console import OneLineParser, Unusable, exit_with, finding

SPEC_LAW = re.compile(r"- (?:\*\*(I\d+) |([A-Z]{2,3}-\d+) )")
TEST_LAW = re.compile(r"(?:(?P<prefix>[A-Z]{2,3})_(?P<number>\d+)|(?P<promise>I\d+))(?:_|$)")
LIST_LINE = re.compile(r"(I\d+|[A-Z]{2,3}-\d+)\s+(\S.*)")
SOURCE_ROOTS = ("calm", "apps", "tools")
LAW_PROGRAM = "calm_law_tests"
WIDTH = 120


class Entry(NamedTuple):
    law: str
    text: str
    line: int
    partly: bool


class Test(NamedTuple):
    name: str
    laws: tuple
    disabled: bool
    program: str


def read(path):
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"laws.py: cannot read {path}: {error}") from None


def spec_laws(text):
    """The laws of a spec in its order, as (law, line)."""
    hits = ((SPEC_LAW.match(line), number) for number, line in enumerate(text.splitlines(), 1))
    return [(hit[1] or hit[2], number) for hit, number in hits if hit]


def list_entries(text, name):
    entries, partly = [], False
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if line == "[partly]":
            partly = True
        elif hit := LIST_LINE.fullmatch(line):
            entries.append(Entry(hit[1], hit[2], number, partly))
        elif line:
            raise Unusable(f"{name}:{number}: expected `LAW  what it waits for` or `[partly]`, found `{line}`")
    return entries


def laws_in_name(name):
    """The laws a test carries: the ids that open the first part of its name which opens with one."""
    for part in re.split(r"[./]", name):
        laws, at = [], 0
        while hit := TEST_LAW.match(part, at):
            laws.append(hit["promise"] or f"{hit['prefix']}-{hit['number']}")
            at = hit.end()
        if laws:
            return tuple(laws)
    return ()


def read_tests(args):
    if args.tests != "-":
        text = read(Path(args.tests))
    elif args.build is None:
        raise Unusable("laws.py: --tests - needs --build DIR")
    else:
        text = ctest_output(args.ctest, args.build)
    try:
        tests = [(test["name"], test.get("properties", []), Path(*test.get("command", [""])[:1]).name)
                 for test in json.loads(text)["tests"]]
    except (ValueError, KeyError, TypeError):
        raise Unusable("laws.py: the tests are not the output of `ctest --show-only=json-v1`") from None
    if unbuilt := [name for name, _, _ in tests if name.endswith("_NOT_BUILT")]:
        raise Unusable(f"laws.py: not built yet: {' '.join(unbuilt)}; build every target first")
    return [Test(name, laws_in_name(name), any(p["name"] == "DISABLED" and p["value"] for p in properties), program)
            for name, properties, program in tests]


def ctest_output(ctest, build):
    """Asks ctest from a folder that only points to the build: in the build it would empty the log of a running ctest."""
    if not (Path(build) / "CTestTestfile.cmake").is_file():
        raise Unusable(f"laws.py: {build} is not a build with tests")
    with tempfile.TemporaryDirectory(prefix="calm_laws_") as folder:
        Path(folder, "CTestTestfile.cmake").write_text(f'subdirs("{Path(build).resolve()}")\n')
        try:
            ran = subprocess.run([ctest, "--show-only=json-v1"], cwd=folder, capture_output=True, text=True, check=False)
        except OSError as error:
            raise Unusable(f"laws.py: cannot run {ctest}: {error}") from None
    if ran.returncode:
        raise Unusable(f"laws.py: ctest failed in {build}: {' '.join(ran.stderr.split())}")
    return ran.stdout


def mentions(text, prefixes):
    """Every law that a text names, as (law, line); CAN-1..3 and CAN-1,2,3 name three."""
    pattern = rf"(?<![A-Za-z0-9])(?:({prefixes})(?:-(\d+)((?:(?:\.\.|,)\d+)*)|_(\d+))|I\d+)(?![A-Za-z0-9])"
    for hit in re.finditer(pattern, text):
        line = text.count("\n", 0, hit.start()) + 1
        if not hit[1]:
            yield hit[0], line
            continue
        numbers = [int(hit[2] or hit[4])]
        for mark, number in re.findall(r"(\.\.|,)(\d+)", hit[3] or ""):
            numbers += [int(number)] if mark == "," else range(numbers[-1] + 1, min(int(number), numbers[-1] + 999) + 1)
        yield from ((f"{hit[1]}-{number}", line) for number in numbers)


class Project:
    def __init__(self, args):
        self.root, self.args = args.root.resolve(), args
        self.spec, self.not_yet = self.root / args.spec, self.root / args.not_yet
        self.listed = spec_laws(read(self.spec))
        self.laws = dict(reversed(self.listed))  # law -> its first line
        self.order = {law: place for place, (law, _) in enumerate(self.listed)}
        self.entries = list_entries(read(self.not_yet), args.not_yet)
        self.waiting = {entry.law: entry for entry in self.entries if not entry.partly}
        self.partly = {entry.law: entry for entry in self.entries if entry.partly}
        self.tests = read_tests(args)
        self.tested = {law: test for test in self.tests if not test.disabled for law in test.laws}
        self.roots = args.source or [root for root in SOURCE_ROOTS if (self.root / root).is_dir()]

    def sorted(self, laws):
        return sorted(laws, key=lambda law: self.order.get(law, -1))

    def at(self, law):
        return f"{self.args.spec}:{self.laws[law]} law {law}"

    def sources(self):
        """Every readable file below the source roots, as (name, text), without the files that speak of laws in general."""
        for root in self.roots:
            if not (self.root / root).is_dir():
                raise Unusable(f"laws.py: there is no folder {self.root / root}")
            for path in sorted((self.root / root).rglob("*")):
                name = path.relative_to(self.root).as_posix()
                if path.is_file() and "__pycache__" not in name and name != "tools/laws.py" and not name.startswith("spec/"):
                    yield name, path.read_text(errors="replace")


def spec_findings(project):
    for law, line in project.listed:
        if line != project.laws[law]:
            yield finding(f"{project.args.spec}:{line} law {law} stands on line {project.laws[law]} already",
                          "an id names one law", f"give the law on line {line} the next free number")
        elif law not in project.tested and law not in project.waiting and law not in project.partly:
            yield finding(f"{project.at(law)} has no test", f"every law has a test or a line in {project.args.not_yet}",
                          f"write a test whose name starts with {law.replace('-', '_')}_")


def list_findings(project):
    seen = {}
    for entry in project.entries:
        place = f"{project.args.not_yet}:{entry.line}"
        if entry.law in seen:
            yield finding(f"{place} names {entry.law} again, first on line {seen[entry.law]}", "the list names a law once",
                          "remove one of the lines")
        elif entry.law not in project.laws:
            yield finding(f"{place} names {entry.law}, which is not in {project.args.spec}",
                          "the list names laws of the spec", f"correct the id, or remove its line from {place}")
        elif entry.partly and entry.law not in project.tested:
            yield finding(f"{place} lists {entry.law} as partly tested, but it has no test",
                          "a law under [partly] has a test",
                          f"write a test whose name starts with {entry.law.replace('-', '_')}_")
        elif not entry.partly and entry.law in project.tested:
            yield finding(f"{place} lists {entry.law}, but {project.tested[entry.law].name} tests it",
                          "the list names laws without a test",
                          f"remove its line from {place}, or move it below [partly] if the test covers only a part")
        seen.setdefault(entry.law, entry.line)


def test_findings(project):
    for test in project.tests:
        if test.disabled or "DISABLED_" in test.name:
            yield finding(f"test {test.name} is disabled", "a disabled test is a failure", "repair the test, or remove it")
        if test.program == LAW_PROGRAM and not test.laws:
            yield finding(f"test {test.name} of {LAW_PROGRAM} carries no law", "a test in tests/law starts with its law",
                          "put the id in front of its name, or move the test to tests/unit")
        for law in test.laws:
            if law not in project.laws:
                yield finding(f"test {test.name} carries {law}, which is not in {project.args.spec}",
                              "a test carries laws of the spec", "correct the id in the name of the test")


def source_findings(project):
    prefixes, named = "|".join(sorted({law.split("-")[0] for law in project.laws if "-" in law}) or ["-"]), set()
    for name, text in project.sources():
        for law, line in mentions(text, prefixes):
            named.add(law)
            # A bare I9 may be anything, and a tool may show an example; neither is a claim about the spec.
            if law not in project.laws and "-" in law and not name.startswith("tools/"):
                yield finding(f"{name}:{line} names {law}, which is not in {project.args.spec}",
                              "code names laws of the spec", "correct the id")
    for law in project.sorted(project.tested.keys() & project.laws.keys() - named):
        yield finding(f"{project.at(law)} is tested by {project.tested[law].name}, but no file under "
                      f"{' '.join(project.roots)} names it", "the code that enforces a law names it",
                      f"write {law} where the code enforces it, in the opening comment or at the check")


def git(root, *words):
    ran = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False)
    return ran.stdout if ran.returncode == 0 else ""


def committed_versions(project):
    """Every committed list that differs from today's, newest first, as (commit, laws of its spec, its entries)."""
    if not (project.root / ".git").exists():
        return
    today = read(project.not_yet)
    for commit in git(project.root, "log", "--format=%H", "--", project.args.not_yet).split():
        text = git(project.root, "show", f"{commit}:{project.args.not_yet}")
        if text in ("", today):
            continue
        try:
            entries = list_entries(text, f"{commit}:{project.args.not_yet}")
        except Unusable:
            continue  # a version in another format says nothing about today's
        yield commit[:10], dict(spec_laws(git(project.root, "show", f"{commit}:{project.args.spec}"))), entries


def history_findings(project):
    rule, grown = f"{project.args.not_yet} only gets shorter", set()
    for age, (commit, laws, entries) in enumerate(committed_versions(project)):
        waiting = {entry.law for entry in entries if not entry.partly}
        was_listed = {entry.law for entry in entries}
        for entry in project.entries:
            grew = entry.law not in waiting if not entry.partly else age == 0 and entry.law not in was_listed
            if grew and entry.law in laws and entry.law not in grown:
                grown.add(entry.law)
                yield finding(f"{project.args.not_yet}:{entry.line} lists {entry.law} again",
                              f"{rule}: {entry.law} was tested at {commit}",
                              f"restore the tests that {entry.law} had at {commit}")


def wrapped(label, text):
    return textwrap.fill(text, WIDTH, initial_indent=f"  {label:<9}", subsequent_indent=" " * 11, break_on_hyphens=False)


def summary(project):
    tested, waiting = project.sorted(project.tested), project.sorted(project.waiting)
    partly = project.sorted(project.partly)
    yield (f"laws: {len(tested)} of {len(project.laws)} have tests, {len(partly)} of them partly; {len(waiting)} not yet "
           f"({project.args.not_yet})")
    yield wrapped("tested", " ".join(law for law in tested if law not in project.partly))
    for law in partly:
        yield wrapped("partly", f"{law} {project.partly[law].text}")
    sections = {}
    for law in waiting:
        sections.setdefault(re.match("[A-Z]+", law)[0], []).append(law)
    for label, laws in zip(["not yet"] + [""] * len(sections), sections.values()):
        yield wrapped(label, " ".join(laws))


def main():
    parser = OneLineParser("laws.py", __doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--spec", default="spec/SPEC.md")
    parser.add_argument("--not-yet", default="spec/NOT_YET")
    parser.add_argument("--tests", required=True, metavar="FILE")
    parser.add_argument("--build", metavar="DIR")
    parser.add_argument("--ctest", default="ctest", metavar="PROGRAM")
    parser.add_argument("--source", nargs="+", metavar="DIR")
    project = Project(parser.parse_args())
    checks = (spec_findings, list_findings, test_findings, source_findings, history_findings)
    findings = [found for check in checks for found in check(project)]
    print(*findings or summary(project), sep="\n")
    return int(bool(findings))


if __name__ == "__main__":
    exit_with(main)
