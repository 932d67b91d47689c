#!/usr/bin/env python3
"""checker_test.py — tools/compile_fail.py is content with nothing less than the right message.

Usage: tests/compile_fail/checker_test.py [CheckerTest.test_...]; every test is a ctest test, compile_fail.checker_...
Environment: CALM_TEST_COMPILER, the compiler.
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/compile_fail.py"

CASE = """// expect: static assertion failed.*: no more than three
#ifdef MUST_NOT_COMPILE
constexpr int count = 4;
#else
constexpr int count = 3;
#endif
static_assert(count < 4, "no more than three");
"""


class CheckerTest(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory(prefix="calm_compile_fail_") as folder:
            path = Path(folder, "case.cpp")
            path.write_text(text)
            command = [sys.executable, TOOL, "--root", folder, path]
            command += ["--compiler", os.environ.get("CALM_TEST_COMPILER", "clang++-19")]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    def finds(self, text, *parts):
        ran = self.check(text)
        self.assertEqual((ran.returncode, ran.stderr), (1, ""), ran.stdout)
        for part in ("calm: case.cpp ", "\n  rule: ", "\n  next: ", "\nthe compiler said:\n", *parts):
            self.assertIn(part, ran.stdout)

    def refuses(self, text, *parts):
        ran = self.check(text)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr.count("\n")), (2, "", 1), ran.stderr)
        for part in parts:
            self.assertIn(part, ran.stderr)

    def test_checker_accepts_the_right_message(self):
        ran = self.check(CASE)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))

    def test_checker_finds_a_mistake_that_compiles(self):
        self.finds(CASE.replace("= 4", "= 2"), "compiles with its mistake")

    def test_checker_finds_another_message(self):
        self.finds(CASE.replace("more than three\");", "less\");"), "no line of the output matches", "no less")

    def test_checker_finds_a_missing_second_message(self):
        self.finds("// expect: and something else\n" + CASE, "matches `and something else`", "no more than three")

    def test_checker_finds_a_control_that_does_not_compile(self):
        self.finds(CASE + "int f() { return undeclared; }\n", "does not compile even without its mistake", "undeclared")

    def test_checker_takes_a_warning_for_a_failure(self):
        self.finds(CASE + "void f() { int unused = 1; }\n", "even without its mistake", "unused")

    def test_checker_refuses_a_file_without_an_expectation(self):
        self.refuses(CASE.replace("expect", "Expect"), "expects nothing of")

    def test_checker_refuses_a_broken_expression(self):
        self.refuses("// expect: (\n" + CASE, "`(` is no regular expression")

    def test_checker_refuses_an_unknown_compiler(self):
        self.refuses("// expect(icc): x\n" + CASE, "icc")


if __name__ == "__main__":
    unittest.main()
