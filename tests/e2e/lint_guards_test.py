#!/usr/bin/env python3
"""lint_guards_test.py — `calm lint-guards` as a user meets it: a guard that is found, files in order, folders, wrong calls.

Usage: tests/e2e/lint_guards_test.py [LintGuardsTest.test_...]; every test is a ctest test of its own, e2e.lint_guards_...
Environment: CALM_TEST_TOOL, the tool.
"""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BAD = "Task<void> f(Cx cx) {\n  std::lock_guard held(mutex);\n  co_await calm::yield(cx);\n}\n"
GOOD = "Task<void> f(Cx cx) {\n  { std::lock_guard held(mutex); }\n  co_await calm::yield(cx);\n}\n"
SAID = "co_await while held, a std::lock_guard of line 2, holds its lock [calm-blocking-guard]\n  law:  CHN-12 "


class LintGuardsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_lint_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def run_calm(self, *words):
        return subprocess.run([os.environ["CALM_TEST_TOOL"], "lint-guards", *words], cwd=self.root, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_lint_guards_finds_a_blocking_guard_at_an_await(self):
        self.write("bad.cpp", BAD)
        ran = self.run_calm("bad.cpp")
        self.assertEqual((ran.returncode, ran.stderr), (1, ""), ran.stdout)
        self.assertIn(f"bad.cpp:3:3: {SAID}", ran.stdout)
        self.assertIn("\n  next: end the guard before, ", ran.stdout)
        self.assertTrue(ran.stdout.endswith("1 file, 1 warning\n"), ran.stdout)

    def test_lint_guards_is_silent_about_code_in_order(self):
        self.write("good.cpp", GOOD)
        ran = self.run_calm("good.cpp")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "1 file, 0 warnings\n", ""))

    def test_lint_guards_takes_the_sources_of_a_folder_by_name(self):
        for name in ("src/b.cpp", "src/a/z.hpp", "src/a/y.txt"):
            self.write(name, BAD)
        ran = self.run_calm("src")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertLess(ran.stdout.index("src/a/z.hpp:3:3: "), ran.stdout.index("src/b.cpp:3:3: "))
        self.assertTrue(ran.stdout.endswith("2 files, 2 warnings\n"), ran.stdout)

    def test_lint_guards_finds_nothing_in_calm_itself(self):
        sources = Path(__file__).resolve().parents[2]
        ran = self.run_calm(*(str(sources / folder) for folder in ("calm", "apps", "examples", "bench")))
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_lint_guards_refuses_what_it_cannot_read(self):
        self.write("folder/read.me", "")
        for words, says in ((("nowhere.cpp",), "nowhere.cpp"), (("folder",), "there is no C++ file"), ((), "PATH is required")):
            ran = self.run_calm(*words)
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
            self.assertIn(says, ran.stderr)


if __name__ == "__main__":
    unittest.main()
