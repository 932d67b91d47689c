#!/usr/bin/env python3
"""gdb_test.py — gdb/calm.py tells of a stopped process and of its core what tests/gdb/SAYS has, and the guide shows.

Usage: tests/gdb/gdb_test.py [GdbTest.test_...]; every test is a ctest test of its own, gdb....
       tests/gdb/gdb_test.py --write                 renews SAYS; look at the difference, then ./dev docs
Environment: CALM_TEST_UNOPTIMISED, CALM_TEST_OPTIMISED: tests/gdb/parked.cpp compiled with -O0 -g and with -O2 -g.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "gdb/calm.py"
UNOPTIMISED = os.environ.get("CALM_TEST_UNOPTIMISED", "build/dev/tests/gdb/gdb_parked_O0")
OPTIMISED = os.environ.get("CALM_TEST_OPTIMISED", "build/dev/tests/gdb/gdb_parked_O2")
SECTION = re.compile(r"^# \[(\w+)\]\n(.*?)^# \[/\1\]$", re.M | re.S)
COMMANDS = {"tasks": "calm tasks", "regions": "calm regions", "bt": "calm bt session", "all": "calm bt all",
            "obligations": "calm obligations"}

NAMES = {
    "load(calm::Cx, int) [clone .resume]": "load",
    "(anonymous namespace)::load(calm::Cx, int) [clone .resume]": "load",
    "(anonymous namespace)::load((anonymous namespace)::load(calm::Cx, int)::_ZN12_GLOBAL__N_14loadEi.Frame*) [clone .actor]":
        "load",
    "calm::Task<int> app::load(calm::CxOf<calm::cap::time>, int)": "app::load",
    "calm::Task<T> app::twice(F) [with F = int (*)(int); T = int]": "app::twice",
    "app::Box<std::pair<int, long> >::put(int) const [clone .resume]": "app::Box::put",
    "app::Body::operator()(calm::Cx) const [clone .resume]": "app::Body::operator()",
    "app::Body::operator()(app::Body::operator()(calm::Cx) const::_ZNK3app4BodyclEN4calm2CxE.Frame*) [clone .actor]":
        "app::Body::operator()",
    "main::$_0::operator()(calm::Cx) const [clone .resume]": "main::{lambda}",
    "main::{lambda(calm::Cx)#2}::operator()(calm::Cx) const [clone .resume]": "main::{lambda}",
    "app::load(calm::Cx)::{lambda(calm::Cx)#1}::operator()(calm::Cx) const": "app::load::{lambda}",
}


def said_before():
    """What SAYS has, by section."""
    return dict(SECTION.findall((ROOT / "tests/gdb/SAYS").read_text()))


class GdbTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_gdb_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()

    def gdb(self, *words):
        environment = {**os.environ, "LC_ALL": "C", "DEBUGINFOD_URLS": ""}
        ran = subprocess.run(["gdb", "-batch", "-nx", "-q", "-ex", f"source {SCRIPT}", *map(str, words)], env=environment,
                             cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return ran.stdout

    def core_of(self, program):
        core = self.root / "core"
        said = self.gdb(program, "-ex", "run", "-ex", f"generate-core-file {core}")
        self.assertTrue(core.is_file(), said)
        return core

    def ask(self, *words):
        """What each command prints, by section; real time is told as 0s."""
        questions = [word for name, command in COMMANDS.items()
                     for word in ("-ex", f"echo # [{name}]\\n", "-ex", command, "-ex", f"echo # [/{name}]\\n")]
        said = self.gdb(*words, *questions)
        found = dict(SECTION.findall(re.sub(r"since 0\.\d+s", "since 0s", said)))
        self.assertEqual(sorted(found), sorted(COMMANDS), said)
        return found

    def tells_all(self, found, leaving_out=""):
        expected = said_before()
        for name in COMMANDS:
            wanted = re.sub(leaving_out, "", expected[name]) if leaving_out else expected[name]
            self.assertEqual(found[name], wanted, f"section {name} of tests/gdb/SAYS")

    def test_a_core_of_an_optimised_program_tells_all(self):
        self.tells_all(self.ask(OPTIMISED, self.core_of(OPTIMISED)))

    def test_a_core_of_an_unoptimised_program_tells_all(self):
        self.tells_all(self.ask(UNOPTIMISED, self.core_of(UNOPTIMISED)))

    def test_a_live_process_tells_all(self):
        self.tells_all(self.ask(OPTIMISED, "-ex", "run"))

    def test_the_symbol_table_is_enough(self):
        program = self.root / "parked"
        subprocess.run(["strip", "--strip-debug", OPTIMISED, "-o", program], check=True)
        self.tells_all(self.ask(program, self.core_of(program)), leaving_out=r"parked\.cpp:\d+ in (?=fetch, not begun)")

    def test_a_program_in_the_lab_is_seen_as_well(self):
        found = self.ask(OPTIMISED, "-ex", "run lab")
        without_owners = [re.sub("; opened by .*", "", text) for text in (found["regions"], said_before()["regions"])]
        self.assertEqual(*without_owners)  # the lab chooses who opens first
        for name in ("loader", "server", "session", "stopper"):
            self.assertIn(f" {name} ", found["tasks"])

    def test_several_runtimes_are_told_of_one_after_the_other(self):
        said = self.gdb(OPTIMISED, "-ex", "run two", "-ex", "calm regions")
        regions = said_before()["regions"]
        self.assertIn(f"kernel 1 of 2\nr1 Open, 1 task\nkernel 2 of 2\n{regions}", said)

    def test_a_program_without_symbols_is_refused(self):
        program = self.root / "parked"
        subprocess.run(["strip", OPTIMISED, "-o", program], check=True)
        self.assertIn("calm: there is no symbol calm_debug_anchor", self.gdb(program, "-ex", "run", "-ex", "calm tasks"))

    def test_a_program_that_does_not_run_has_nothing_to_tell(self):
        self.assertIn("calm: there is no process and no core", self.gdb(OPTIMISED, "-ex", "calm regions"))

    def test_a_program_that_has_not_begun_with_calm_has_nothing_to_tell(self):
        said = self.gdb(OPTIMISED, "-ex", "break main", "-ex", "run", "-ex", "calm regions")
        self.assertIn("calm: no program runs on calm at this moment", said)

    def test_a_backtrace_wants_a_task(self):
        self.assertIn("calm: which task? calm bt TASK", self.gdb(OPTIMISED, "-ex", "run", "-ex", "calm bt"))

    def test_a_backtrace_of_a_stranger_is_refused(self):
        said = self.gdb(OPTIMISED, "-ex", "run", "-ex", "calm bt t99")
        self.assertIn("calm: there is no live task t99; `calm tasks` lists them", said)

    def test_the_names_of_states_and_kinds_are_those_of_the_code(self):
        script = SCRIPT.read_text()
        for header, table in (("region_state", "REGION_STATES"), ("task_state", "TASK_STATES")):
            text = (ROOT / f"calm/model/{header}.hpp").read_text()
            values = dict(re.findall(r"(\w+) = (\d+)", re.search(r"enum class \w+ : [\w:]+ \{(.*?)\}", text, re.S)[1]))
            names = dict(re.findall(r"case \w+::(\w+):\s+return \"(\w+)\";", text))
            line = ", ".join(f'{values[word]}: "{name}"' for word, name in names.items())
            self.assertIn(f"{table} = {{{line}}}\n", script)
        kinds = re.findall(r'\{ObligationKind::\w+, "([^"]+)"', (ROOT / "calm/model/obligation_kind.hpp").read_text())
        listed = re.search(r"^KINDS = \((.*?)\)$", script, re.M | re.S)[1]
        self.assertEqual(re.findall(r'"([^"]+)"', listed), kinds)
        self.assertEqual(len(kinds), 9)

    def test_functions_are_shown_by_their_names(self):
        said = self.gdb("-ex", f"python for name in {list(NAMES)!r}: print(function_name(name))")
        self.assertEqual(said.splitlines(), list(NAMES.values()))

    def test_help_lists_the_commands(self):
        said = self.gdb("-ex", "help calm")
        for command in ("bt", "obligations", "regions", "tasks"):
            self.assertIn(f"calm {command} -- ", said)


def write():
    test = GdbTest()
    test.root = ROOT
    found = test.ask(Path(OPTIMISED).resolve(), "-ex", "run")
    head = "# What gdb/calm.py says of tests/gdb/parked.cpp at its end; docs/guide/debugging.md shows it.\n\n"
    sections = "".join(f"# [{name}]\n{text}# [/{name}]\n" for name, text in found.items())
    (ROOT / "tests/gdb/SAYS").write_text(head + sections)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        raise SystemExit(write())
    if shutil.which("gdb") is None:
        raise SystemExit("gdb_test.py: there is no gdb; ./dev installs it")
    unittest.main()
