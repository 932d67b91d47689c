#!/usr/bin/env python3
"""explore_test.py — `calm explore` as a user meets it: what it lists, counts, finds, repeats, draws and refuses.

Usage: tests/e2e/explore_test.py [ExploreTest.test_...]; every test is a ctest test of its own, e2e.explore_...
Environment: CALM_TEST_TOOL, the tool.
"""
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

KEYS = {"program", "n", "executions", "blocked", "fingerprints", "deadlocks", "buggy", "exhausted", "seconds"}


class ExploreTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_explore_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def explore(self, *words, status=0):
        ran = subprocess.run([os.environ["CALM_TEST_TOOL"], "explore", *words], cwd=self.root, check=False, text=True,
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        return ran

    def record(self, *words, status=0):
        ran = self.explore(*words, "--json", status=status)
        self.assertEqual(ran.stderr, "")
        return json.loads(ran.stdout)

    def refuses(self, *words, says):
        """Demands exit code 2, exactly one line on stderr and nothing on stdout."""
        ran = self.explore(*words, status=2)
        self.assertEqual(ran.stdout, "")
        self.assertRegex(ran.stderr, r"\Acalm: [^\n]+\n\Z")
        self.assertIn(says, ran.stderr)

    def exhibits(self):
        """The names of the programs with a bug."""
        listed = self.explore("--list").stdout
        parts = listed.split("\n\n")
        return [line.split()[0] for part in parts[1:3] for line in part.splitlines()[1:]]

    def test_explore_lists_zoo_and_gallery_apart(self):
        listed = self.explore("--list").stdout
        known, bugs, locks, unruly, examples = listed.split("\n\n")
        self.assertIn("  three_children ", examples)
        self.assertIn("  lastzero ", known)
        self.assertIn("--n 1..20", known)
        self.assertIn("  futurelock ", bugs)
        self.assertNotIn("futurelock", known)
        self.assertIn("  hidden_abba ", locks)
        self.assertIn("  endless_spin ", unruly)
        self.assertEqual(len(bugs.splitlines()) - 1, 13)

    def test_explore_prints_a_record_with_the_keys_and_the_known_count(self):
        record = self.record("lastzero", "--n", "5")
        self.assertLessEqual(KEYS, record.keys())
        self.assertEqual((record["program"], record["n"], record["executions"], record["fingerprints"]), ("lastzero", 5, 64, 64))
        self.assertEqual((record["blocked"], record["deadlocks"], record["buggy"], record["exhausted"]), (0, 0, 0, True))
        self.assertIsNone(record["first_bug"])
        self.assertGreaterEqual(record["seconds"], 0)

    def test_explore_gives_0_for_a_program_that_is_there_to_be_counted(self):
        record = self.record("philosophers", "--n", "3")
        self.assertEqual((record["executions"], record["deadlocks"], record["buggy"]), (7, 1, 1))

    def test_explore_finds_every_bug_and_exhausts_every_mended_program(self):
        names = self.exhibits()
        self.assertEqual(len(names), 17)
        for name in names:
            with self.subTest(name):
                broken = self.record(name, status=1)
                self.assertTrue(broken["exhausted"])
                self.assertGreater(broken["buggy"], 0)
                mended = self.record(name + "-fixed")
                self.assertTrue(mended["exhausted"])
                self.assertEqual((mended["buggy"], mended["deadlocks"], mended["lassos"], mended["blocked"]), (0, 0, 0, 0))

    def test_explore_shows_the_whole_gallery_in_tables(self):
        bugs, locks = self.explore("--gallery").stdout.split("Locks in a wrong order")
        rows = [line.split() for line in bugs.splitlines()[3:] if line]
        self.assertEqual(len(rows), 13)
        for name, executions, buggy, preemptions, mended, left in rows:
            with self.subTest(name):
                self.assertLess(0, int(buggy))
                self.assertLess(int(buggy), int(executions))
                self.assertIn(int(preemptions), (0, 1))
                self.assertLess(0, int(mended))
                self.assertEqual(int(left), 0)
        self.assertIn("persistence", locks)

    def test_explore_shows_a_failure_in_columns_with_the_command_that_repeats_it(self):
        shown = self.explore("futurelock", status=1).stdout
        self.assertIn("The first problem came with execution", shown)
        self.assertIn("It needs 1 preemption:", shown)
        self.assertRegex(shown, r"\n +holder +select +timer")
        command = re.search(r"^See it again: calm explore (.*)$", shown, re.MULTILINE)
        again = self.explore(*command[1].split(), status=1).stdout
        self.assertIn("deadlock: select waits for ever", again)
        self.assertIn(again, shown)

    def test_explore_prints_the_parameters_in_the_command_that_repeats_a_failure(self):
        shown = self.explore("late_philosophers", "--n", "3", status=1).stdout
        command = re.search(r"^See it again: calm explore (late_philosophers --n 3 --replay .*)$", shown, re.MULTILINE)
        self.assertIn("wait for ever", self.explore(*command[1].split(), status=1).stdout)

    def test_explore_runs_a_schedule_that_ends_well(self):
        self.assertIn("it ends without a problem", self.explore("lost_update-fixed", "--replay", "0.1").stdout)
        self.assertIn("the program does not", self.explore("lost_update-fixed", "--replay", "0").stdout)

    def test_explore_tells_the_step_where_a_schedule_does_not_fit(self):
        ran = self.explore("lost_update", "--replay", "0x9", status=1)
        self.assertRegex(ran.stderr, r"thread 0 cannot take step 3 \[LAB-3\]; next: ")
        ran = self.explore("lost_update", "--replay", "0x2.1x2-z00000001", status=1)
        self.assertIn("led to other steps than it did before", ran.stderr)
        self.refuses("lost_update", "--replay", "nonsense", says='a schedule: no number of a process in "nonsense"')

    def test_explore_writes_a_timeline_that_is_one_file_and_asks_for_nothing(self):
        self.explore("futurelock", "--html", "timeline.html", status=1)
        page = (self.root / "timeline.html").read_text()
        self.assertIn("<!DOCTYPE html>", page)
        for part in ("holder", "select", "timer", "futurelock: deadlock: select waits for ever"):
            self.assertIn(part, page)
        self.assertNotRegex(page, r"(?:src|href)=|https?://")
        self.explore("lost_update", "--replay", "0.1.0.1", "--html", "replayed.html", status=1)
        self.assertIn("one of two updates is lost", (self.root / "replayed.html").read_text())

    def test_explore_writes_no_timeline_without_a_failure(self):
        ran = self.explore("lost_update-fixed", "--html", "timeline.html")
        self.assertIn("no problem to draw", ran.stderr)
        self.assertFalse((self.root / "timeline.html").exists())

    def test_explore_refuses_a_timeline_that_cannot_be_written(self):
        ran = self.explore("lost_update", "--html", "no/such/folder.html", status=2)
        self.assertIn("cannot be written", ran.stderr)

    def test_explore_tells_a_spin_that_never_ends_as_a_lasso(self):
        shown = self.explore("endless_spin", status=1).stdout
        self.assertRegex(shown, r"lassos +33\n")
        self.assertIn("lasso: spinner repeats its reads for ever, and nobody is left to write what is read", shown)
        self.assertIn("spinner repeats for ever: read x0", shown)

    def test_explore_stops_a_program_without_end_at_the_limit_of_steps(self):
        shown = self.explore("endless_work", status=1).stdout
        self.assertIn("and there may be more", shown)
        self.assertIn("step limit: no end after 10000 steps; the last one came 10000 times: thread 0", shown)
        self.assertIn("this step 9999 more times", shown)
        self.assertFalse(self.record("endless_work", status=1)["exhausted"])
        self.assertIn("no end after 200 steps", self.explore("endless_work", "--max-steps", "200", status=1).stdout)

    def test_explore_names_a_program_that_is_not_deterministic(self):
        ran = self.explore("coin_toss", status=1)
        self.assertEqual(ran.stdout, "")
        self.assertRegex(ran.stderr, r"\Acalm: the program is not deterministic: after \d+ steps process 0 .*\[I6\]; next: ")

    def test_explore_tells_how_many_executions_the_first_bug_took_by_each_strategy(self):
        by_score = self.record("late_philosophers", "--n", "4", "--strategy", "persistence", status=1)
        self.assertTrue(by_score["exhausted"])
        seeds = [self.record("late_philosophers", "--n", "4", "--strategy", "random", "--seed", str(seed), status=1)["first_bug"]
                 for seed in range(1, 6)]
        self.assertLess(by_score["first_bug"], sorted(seeds)[2])
        bounded = self.record("lost_update", "--strategy", "bounded", "--preemptions", "0")
        self.assertEqual((bounded["buggy"], bounded["first_bug"]), (0, None))
        self.assertEqual(self.record("lost_update", "--strategy", "bounded", "--preemptions", "1", status=1)["buggy"], 2)

    def test_LAB_5_every_schedule_of_an_example_is_visited(self):
        record = self.record("three_children", "--declared")
        self.assertEqual((record["executions"], record["fingerprints"], record["blocked"]), (1, 1, 0))
        self.assertTrue(record["exhausted"])
        plain = self.record("three_children")
        self.assertGreater(plain["executions"], 1)
        self.assertGreater(self.record("three_children", "--declared", "--explore-time")["executions"], 1)
        self.assertEqual(self.record("three_children", "--strategy", "random", "--max-executions", "7")["executions"], 7)

    def test_LAB_3_a_bug_of_an_example_is_found_shown_and_made_again(self):
        shown = self.explore("forgotten_promise", status=1).stdout
        self.assertIn("with a problem", shown)
        self.assertIn("handle_message", shown)
        command = re.search(r"^See it again: calm explore (forgotten_promise --replay calm1-\S+)$", shown, re.MULTILINE)
        again = self.explore(*command[1].split(), status=1).stdout
        self.assertIn("was dropped while Reserved", again)

    def test_explore_refuses_wrong_words(self):
        self.refuses(says="explore needs a PROGRAM")
        self.refuses("philosopher", says='unknown program "philosopher"; did you mean "philosophers"?')
        self.refuses("futurelok", says='did you mean "futurelock"?')
        self.refuses("philosophers", "--n", "30", says="--n 30 is out of range for philosophers; give one from 2 to 20")
        self.refuses("hidden_abba", "--n", "1", says="give one from 2 to 12")
        self.refuses("abba", "--n", "2", says="abba takes no --n")
        self.refuses("futurelock", "--m", "2", says="futurelock takes no --m")
        self.refuses("abba", "--strategy", "persistance", says='did you mean "persistence"?')
        self.refuses("abba", "--strategy", "pct", "--depth", "0", says="--depth 0 finds nothing")
        self.refuses("abba", "--max-steps", "70000", says="--max-steps 70000 is out of range; give one from 1 to 65535")
        self.refuses("hello", "--n", "2", says="hello takes no --n")
        self.refuses("hello", "--strategy", "persistance", says='did you mean "persistence"?')
        self.refuses("hello", "--replay", "calm1-s1", says="no checksum at the end")


if __name__ == "__main__":
    unittest.main()
