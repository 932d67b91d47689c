#!/usr/bin/env python3
"""lint_obligations_test.py — `calm lint-obligations` as a user meets it: warnings, a clean file, bad files, wrong calls.

Usage: tests/e2e/lint_obligations_test.py [LintObligationsTest.test_...]; every test is a ctest test of its own, e2e.lint_...
Environment: CALM_TEST_TOOL, the tool.
"""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/worker.obligations"
FOUND = """\
worker.cpp:11: leak: reply (send permit) may still be held where handle ends, worker.cpp:16 [OBL-6]
worker.cpp:23: already_resolved: message of answer may have been resolved before [OBL-1]
worker.cpp:25: already_resolved: message of answer may have been resolved before [OBL-1]
3 functions, 3 warnings
"""


class LintObligationsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_lint_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def run_calm(self, *words):
        return subprocess.run([os.environ["CALM_TEST_TOOL"], "lint-obligations", *words], cwd=self.root, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def write(self, name, text):
        (self.root / name).write_text(text)
        return name

    def refuses(self, *words, says):
        """Demands exit code 2, exactly one line on stderr and nothing on stdout."""
        ran = self.run_calm(*words)
        self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
        self.assertRegex(ran.stderr, r"\Acalm: [^\n]+\n\Z")
        self.assertIn(says, ran.stderr)

    def test_lint_finds_what_the_example_forgets(self):
        ran = self.run_calm(str(EXAMPLE))
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (1, FOUND, ""))

    def test_lint_is_silent_about_a_program_in_order(self):
        mended = EXAMPLE.read_text().replace("    return  ", "    abort reply\n    return  ")
        mended = mended.replace("    call write message               at worker.cpp:23\n", "")
        ran = self.run_calm(self.write("mended", mended))
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "3 functions, 0 warnings\n", ""))

    def test_lint_takes_several_files_as_one_program_in_any_order(self):
        self.write("a", "function f at f.cpp:1\n  call g p at f.cpp:2\nend at f.cpp:3\n")
        self.write("b", "function g gives q at g.cpp:1\n  reserve q ack at g.cpp:2\nend at g.cpp:3\n")
        found = "g.cpp:2: leak: p (ack) may still be held where f ends, f.cpp:3 [OBL-6]\n2 functions, 1 warning\n"
        for words in (("a", "b"), ("b", "a")):
            ran = self.run_calm(*words)
            self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (1, found, ""))
        self.refuses("a", says='calm: a:2: unknown function "g"')

    def test_lint_names_the_line_of_a_mistake(self):
        self.refuses(self.write("x", "# top\nfunction f\n  comit p\nend\n"), says='calm: x:3: unknown word "comit"; did you mean "commit"?')
        self.refuses(self.write("x", "function f\n"), says="calm: x:1: the text ends, and what begins in line 1 has no end")

    def test_lint_names_a_file_that_cannot_be_read(self):
        self.refuses("gone", says="calm: gone cannot be read: No such file")
        self.refuses(".", says="it is a folder")

    def test_lint_without_a_file_says_so(self):
        self.refuses(says="FILE is required")


if __name__ == "__main__":
    unittest.main()
