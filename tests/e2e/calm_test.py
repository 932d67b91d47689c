#!/usr/bin/env python3
"""calm_test.py — the calm tool as a user meets it: what it prints, and one line on stderr when the call is off.

Usage: tests/e2e/calm_test.py [CalmTest.test_...]; every test is a ctest test of its own, e2e.calm_...
Environment: CALM_TEST_TOOL, the tool; CALM_TEST_VERSION, the version it must have.
"""
import os
import re
import subprocess
import unittest


class CalmTest(unittest.TestCase):
    def run_calm(self, *words):
        return subprocess.run([os.environ["CALM_TEST_TOOL"], *words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)

    def prints(self, *words):
        """Demands success without complaints and gives what was printed."""
        ran = self.run_calm(*words)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        self.assertTrue(ran.stdout.endswith("\n"))
        return ran.stdout

    def refuses(self, *words, says):
        """Demands exit code 2, exactly one line on stderr and nothing on stdout."""
        ran = self.run_calm(*words)
        self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
        self.assertRegex(ran.stderr, r"\Acalm: [^\n]+\n\Z")
        self.assertIn(says, ran.stderr)

    def test_calm_tour_shows_every_part(self):
        tour = self.prints("tour")
        for line in ("C stopped after 1 of 2 turns", "oracles that watched found nothing",
                     'Cancelled: User at 0s by r2: "a fault: cancel at an await point"',
                     '  because Shutdown at 1.5s by r0 t4: "SIGTERM from the operator"',
                     "  and gets the meet    {deadline 2s, polls 50, cost 700, priority 10}",
                     "  Ok(7)                            Ok(7)",
                     "           Closing -> Draining Finalizing"):
            self.assertIn(line.strip(), tour)
        self.assertEqual(re.findall(r"^(\d)\. ", tour, re.M), ["1", "2", "3", "4", "5", "6"])

    def test_calm_tour_shows_that_a_seed_is_a_run(self):
        runs = re.findall(r"^  seed (\d)   (\w+) +trace digest (\w{16})", self.prints("tour"), re.M)
        first, again, other, stopped = runs
        self.assertEqual(first, again)
        self.assertEqual((first[0], other[0], stopped[0]), ("1", "2", "1"))
        self.assertEqual((sorted(first[1]), sorted(other[1])), (list("AABBCC"),) * 2)
        self.assertEqual(len({run[1:] for run in runs}), 3, "another seed and a fault make other runs")

    def test_calm_tour_is_the_same_twice(self):
        self.assertEqual(self.prints("tour"), self.prints("tour"))

    def test_calm_error_lists_every_error(self):
        rows = [line.split()[:2] for line in self.prints("error").splitlines()]
        self.assertEqual([int(number) for number, _ in rows], list(range(1, 41)))
        self.assertEqual(len({name for _, name in rows}), 40)
        self.assertEqual((rows[0][1], rows[1][1], rows[39][1]), ("invalid_transition", "region_not_open", "open_circuit"))

    def test_calm_error_explains_by_name_and_by_number(self):
        by_name = self.prints("error", "region_not_open")
        self.assertRegex(by_name, r"\Aregion_not_open \(error 2\)\n  cause: \S[^\n]+\n  fix:   \S[^\n]+\n\Z")
        self.assertEqual(by_name, self.prints("error", "2"))

    def test_calm_explains_every_error_it_lists(self):
        for line in self.prints("error").splitlines():
            number, name, cause = line.split(maxsplit=2)
            self.assertIn(f"{name} (error {number})\n  cause: {cause}\n", self.prints("error", name))

    def test_calm_version_is_that_of_the_project(self):
        expected = f"calm {os.environ['CALM_TEST_VERSION']}\n"
        self.assertEqual(self.prints("--version"), expected)
        self.assertEqual(self.prints("version"), expected)

    def test_calm_help_lists_the_commands(self):
        text = self.prints("help")
        self.assertEqual(text, self.prints("--help"))
        for command in ("tour", "error", "run", "replay", "version", "help"):
            self.assertRegex(text, rf"(?m)^  {command} +\S")

    def test_calm_without_a_command_says_so(self):
        self.refuses(says="a command is missing")

    def test_calm_names_an_unknown_command(self):
        self.refuses("nonsense", says="nonsense")

    def test_calm_names_an_unknown_option(self):
        self.refuses("--nonsense", says="--nonsense")
        self.refuses("-x", says="-x")

    def test_calm_names_an_unknown_option_of_a_command(self):
        self.refuses("tour", "--nonsense", says="--nonsense")

    def test_calm_names_an_extra_argument(self):
        self.refuses("tour", "twice", says="twice")
        self.refuses("error", "2", "3", says="3")

    def test_calm_error_names_an_unknown_error(self):
        for error in ("nonsense", "0", "41", "-1", "2x", "99999999999999999999", "Region_not_open"):
            with self.subTest(error):
                self.refuses("error", error, says=error)

    def test_calm_keeps_a_strange_word_on_one_line(self):
        self.refuses("error", "two\nlines", says="two")
        self.refuses("two\nlines", says="two")


if __name__ == "__main__":
    unittest.main()
