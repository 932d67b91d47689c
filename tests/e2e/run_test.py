#!/usr/bin/env python3
"""run_test.py — `calm run` and `calm replay` as a user meets them: examples on the real clock, in the lab, and again.

Usage: tests/e2e/run_test.py [RunTest.test_...]; every test is a ctest test of its own, e2e.run_... and e2e.replay_...
Environment: CALM_TEST_TOOL, the tool.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
sys.dont_write_bytecode = True
from prints import promised  # noqa: E402

SCHEDULE = 7  # lines of a recording, from 0
FIRST_EVENT = 11


BUG = "forgotten_promise"  # the example that has one on purpose


def all_programs():
    """The examples that run tasks, by the main() that runs them."""
    return sorted(path.stem for path in EXAMPLES.glob("*.cpp") if f"calm::run({path.stem})" in path.read_text())


def programs():
    """Those that are right under every schedule."""
    return [name for name in all_programs() if name != BUG]


def printed_by(name):
    return "\n".join(promised((EXAMPLES / f"{name}.cpp").read_text())) + "\n"


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_run_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def run_calm(self, *words):
        return subprocess.run([os.environ["CALM_TEST_TOOL"], *words], cwd=self.root, check=False, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def passes(self, *words):
        ran = self.run_calm(*words)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        return ran.stdout

    def refuses(self, *words, says):
        """Demands exit code 2, exactly one line on stderr and nothing on stdout."""
        ran = self.run_calm(*words)
        self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
        self.assertRegex(ran.stderr, r"\Acalm: [^\n]+\n\Z")
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, ran.stderr)
        return ran.stderr

    def recording(self, example="child_panics", seed="7"):
        """The lines of a recorded run; x.replay has them."""
        self.passes("run", example, "--lab", "--seed", seed, "--record", "x.replay")
        return (self.root / "x.replay").read_text().splitlines()

    def refuses_replay(self, lines, says):
        (self.root / "x.replay").write_text("".join(line + "\n" for line in lines))
        return self.refuses("replay", "x.replay", says=["x.replay: ", *([says] if isinstance(says, str) else says)])

    # --- calm run ---

    def test_run_lists_every_example_that_runs_tasks(self):
        lines = self.passes("run", "--list").splitlines()
        self.assertEqual(sorted(line.split()[0] for line in lines), all_programs())
        self.assertGreaterEqual(len(lines), 6)
        for line in lines:
            self.assertRegex(line, r"^\w+ +\S.{10,}$")

    def test_run_prints_what_the_example_prints(self):
        for name in all_programs():
            with self.subTest(name):
                self.assertEqual(self.passes("run", name), printed_by(name))

    def test_run_prints_the_same_in_the_lab_and_a_report_in_words(self):
        for name in programs():
            with self.subTest(name):
                said = self.passes("run", name, "--lab", "--seed", "5")
                self.assertRegex(said.removeprefix(printed_by(name)),
                                 r"\A\nlab: seed 5, \d+ steps, \d+(ns|us|ms|s) of virtual time\n"
                                 r"  ended as  Ok\n"
                                 r"  trace     \d+ events, digest [0-9a-f]{16}\n"
                                 rf"  again     calm run {name} --lab --seed 5\n"
                                 r"  oracles   all \d+ found nothing\n\Z")

    def test_run_in_the_lab_takes_no_real_time(self):
        said = self.passes("run", "budget_runs_out", "--lab")
        self.assertIn("20ms of virtual time", said)

    def test_run_gives_the_same_digest_for_the_same_seed_and_another_for_another(self):
        def digest(seed):
            return re.search(r"digest (\w+)", self.passes("run", "three_children", "--lab", "--seed", seed))[1]
        self.assertEqual(digest("3"), digest("3"))
        self.assertGreater(len({digest(str(seed)) for seed in range(20)}), 1)

    def test_run_of_many_seeds_finds_no_problem_and_the_same_text_under_each(self):
        for name in programs():
            with self.subTest(name):
                said = self.passes("run", name, "--lab", "--seeds", "100")
                self.assertRegex(said, rf"\Alab: {name}, 100 seeds from 1, each run twice\n  ended as  100 Ok\n"
                                       r"  traces    (the same in all of them|\d+ different ones, by their digests)\n"
                                       r"  printed   the same in all of them\n  failed    none\n\Z")

    def test_run_of_many_seeds_meets_different_schedules(self):
        self.assertRegex(self.passes("run", "three_children", "--lab", "--seeds", "100"), r"traces    [2-9] different")

    def test_run_of_many_seeds_finds_a_bug_and_says_how_to_see_it_again(self):
        ran = self.run_calm("run", BUG, "--lab", "--seeds", "40")
        self.assertEqual((ran.returncode, ran.stderr), (1, ""), ran.stdout)
        self.assertRegex(ran.stdout, r"  printed   2 different texts\n  failed    \d+ runs\n\nlab: seed ")
        self.assertRegex(ran.stdout, r"\nand \d+ more\n\Z")
        commands = re.findall(r"\n  again     calm (run .*)\n", ran.stdout)
        self.assertEqual(len(commands), 5)
        again = self.run_calm(*commands[0].split(), "--record", "x.replay")
        self.assertEqual((again.returncode, again.stderr), (1, ""), again.stdout)
        self.assertIn("oracles   found something: obligations\n", again.stdout)
        self.assertIn(f"{BUG}.cpp:{self.line_of(BUG, 'calm::reserve')}", again.stdout)

    def line_of(self, name, text):
        lines = (EXAMPLES / f"{name}.cpp").read_text().splitlines()
        return next(number for number, line in enumerate(lines, 1) if text in line)

    def test_run_writes_the_binary_trace(self):
        said = self.passes("run", "hello", "--lab", "--trace", "x.trace")
        events = int(re.search(r"trace     (\d+) events", said)[1])
        data = (self.root / "x.trace").read_bytes()
        self.assertEqual((data[:8], len(data)), (b"CALMTRC1", 32 + 64 * events + 8))

    def test_run_names_an_unknown_example_and_the_nearest_one(self):
        self.refuses("run", "three_childern", says=['unknown example "three_childern"',
                                                   'did you mean "three_children"?', "hello"])
        self.assertNotIn("did you mean", self.refuses("run", "xyz", says="unknown example"))

    def test_run_without_an_example_says_so(self):
        self.refuses("run", says=["EXAMPLE", "calm run --list"])

    def test_run_names_a_bad_seed(self):
        for seed in ("x", "-1", "1.5", "0x10", "", "18446744073709551616"):
            with self.subTest(seed):
                self.refuses("run", "hello", "--lab", f"--seed={seed}", says="--seed")
        self.refuses("run", "hello", "--lab", "--seed", "7 ", says='"7 " is no seed')
        self.passes("run", "hello", "--lab", "--seed", "18446744073709551615")

    def test_run_names_a_bad_number_of_seeds(self):
        for seeds in ("0", "-3", "x", "1000001"):
            with self.subTest(seeds):
                self.refuses("run", "hello", "--lab", "--seeds", seeds, says="--seeds")
        self.refuses("run", "hello", "--lab", "--seed", "18446744073709551615", "--seeds", "2", says="no 2 seeds from")

    def test_run_takes_what_only_the_lab_has_with_lab_alone(self):
        for words in (("--seed", "1"), ("--seeds", "2"), ("--trace", "x"), ("--governor", "none")):
            self.refuses("run", "hello", *words, says=[words[0], "--lab"])
        self.refuses("run", "hello", "--lab", "--seeds", "2", "--record", "x", says=["--seeds", "--record"])

    def test_run_under_a_governor_says_what_it_suggested_and_finds_no_problem(self):
        for governor in ("none", "meet-deadlines", "drain-obligations", "drain-regions", "lyapunov"):
            with self.subTest(governor):
                said = self.passes("run", "three_children", "--lab", "--governor", governor)
                self.assertRegex(said, rf"again     calm run three_children --lab --seed 1 --governor {governor}\n")
                self.assertRegex(said, rf"governor  {governor}, asked [1-9]\d* times: [1-9]")
                self.assertRegex(said, r"all \d+ found nothing")

    def test_run_names_a_governor_that_there_is_not(self):
        self.refuses("run", "hello", "--lab", "--governor", "nobody", says=['unknown governor "nobody"', "lyapunov"])
        self.refuses("run", "hello", "--lab", "--governor", "none", "--seeds", "2", says=["--governor", "--seeds"])

    def test_run_names_a_file_that_cannot_be_written(self):
        self.refuses("run", "hello", "--lab", "--record", "no/x", says="no/x cannot be written: No such file")
        self.refuses("run", "hello", "--record", "no/x", says="no/x cannot be written: No such file")
        self.refuses("run", "hello", "--lab", "--trace", ".", says=". cannot be written")

    # --- calm replay ---

    def test_replay_makes_the_run_again(self):
        for name in programs():
            with self.subTest(name):
                self.recording(name)
                said = self.passes("replay", "x.replay")
                self.assertTrue(said.startswith(printed_by(name)), said)
                self.assertIn(f"replay: {name} is the run of x.replay, event for event\n", said)

    def test_replay_finds_the_bug_of_a_recorded_run_again(self):
        ran = self.run_calm("run", BUG, "--lab", "--seeds", "40")
        seed = re.search(r"lab: seed (\d+)", ran.stdout)[1]
        self.assertEqual(self.run_calm("run", BUG, "--lab", "--seed", seed, "--record", "x.replay").returncode, 1)
        said = self.passes("replay", "x.replay")
        self.assertIn(f"replay: {BUG} is the run of x.replay, event for event\n", said)
        self.assertIn("oracles   found something: obligations\n", said)

    def test_replay_follows_the_choices_of_the_file(self):
        first, second = (re.search(r"digest (\w+)", self.passes("run", "three_children", "--lab", "--seed", seed))[1]
                         for seed in ("1", "2"))
        self.assertNotEqual(first, second)
        self.recording("three_children", "2")
        self.assertIn(f"digest {second}", self.passes("replay", "x.replay"))

    def test_replay_shows_both_events_where_the_runs_part(self):
        other = self.recording("three_children", "2")
        lines = self.recording("three_children", "1")
        self.assertNotEqual(lines[SCHEDULE], other[SCHEDULE])
        lines[SCHEDULE] = other[SCHEDULE]  # the choices of one run, the events of another
        (self.root / "x.replay").write_text("\n".join(lines) + "\n")
        ran = self.run_calm("replay", "x.replay")
        self.assertEqual((ran.returncode, ran.stderr), (1, ""), ran.stdout)
        parts = re.search(r"another one after (\d+) events\n  expected: (#\d+) choice \d .*\n  actual: +(#\d+) choice \d ",
                          ran.stdout)
        self.assertTrue(parts, ran.stdout)
        self.assertEqual((parts[2], parts[3]), (f"#{int(parts[1]) + 1}",) * 2)
        self.assertNotIn("event for event\nlab:", ran.stdout)

    def test_replay_shows_the_event_that_another_program_does_not_have(self):
        lines = self.recording()
        lines[1] = "program hello"
        (self.root / "x.replay").write_text("\n".join(lines) + "\n")
        ran = self.run_calm("replay", "x.replay")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertRegex(ran.stdout, r"expected: #\d+ .*\n  actual: +#\d+ ")

    def test_replay_makes_a_run_of_workers_again(self):
        for workers, text in (("1", "one worker"), ("2", "2 workers")):
            for name in programs():
                with self.subTest(name, workers=workers), mock.patch.dict(os.environ, CALM_WORKERS=workers):
                    self.assertEqual(self.passes("run", name, "--record", "x.run"), printed_by(name))
                    said = self.passes("replay", "x.run")
                    self.assertTrue(said.startswith(printed_by(name)), said)
                    self.assertRegex(said, rf"replay: {name} is the run of x.run, \d+ steps of {text}\n")

    def test_replay_says_where_another_program_leaves_a_run_of_workers(self):
        self.passes("run", "three_children", "--record", "x.run")
        lines = (self.root / "x.run").read_text().splitlines()
        for broken, says in ((lines[:-1], ["line ", "without the line `end`"]), (["calm-recording 2"], ["form 1 only"]),
                             ([lines[0], "program hello", *lines[2:]], ["the checksum is wrong"])):
            (self.root / "x.run").write_text("".join(line + "\n" for line in broken))
            self.refuses("replay", "x.run", says=["x.run: ", *says])

    def test_replay_names_a_file_that_cannot_be_read(self):
        self.refuses("replay", "gone.replay", says="gone.replay cannot be read: No such file")
        self.refuses("replay", ".", says=". cannot be read: it is a folder")
        self.refuses("replay", says="FILE")

    def test_replay_names_the_line_of_a_corrupted_file(self):
        good = self.recording()
        self.refuses_replay([], "line 1")
        self.refuses_replay(["calm-replay 2", *good[1:]], "line 1")
        self.refuses_replay([*good[:3], "regions many", *good[4:]], "line 4")
        self.refuses_replay([*good[:7], good[7][:-1] + ("0" if good[7][-1] != "0" else "1"), *good[8:]], "line 8")
        self.refuses_replay([*good[:15], "nonsense", *good[16:]], "line 16")
        changed = good[FIRST_EVENT].split(" ")
        changed[7] = "5"
        self.refuses_replay([*good[:FIRST_EVENT], " ".join(changed), *good[FIRST_EVENT + 1:]], ["line", "trace digest"])
        self.refuses_replay(good[:20], "line 21")
        self.refuses_replay([*good, "more"], f"line {len(good) + 1}")

    def test_replay_names_a_program_that_the_tool_does_not_have(self):
        lines = self.recording()
        lines[1] = "program child_panic"
        self.refuses_replay(lines, ['unknown example "child_panic"', 'did you mean "child_panics"?'])


if __name__ == "__main__":
    unittest.main()
