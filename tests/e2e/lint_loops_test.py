#!/usr/bin/env python3
"""lint_loops_test.py — `calm lint-loops` as a user meets it: a loop that is found, files in order, the code that documents show.

Usage: tests/e2e/lint_loops_test.py [LintLoopsTest.test_...]; every test is a ctest test of its own, e2e.lint_loops_...
Environment: CALM_TEST_TOOL, the tool.
"""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BAD = "calm::Task<int> sum(std::vector<int> all) {\n  int sum = 0;\n  for (const int x : all) sum += x;\n  co_return sum;\n}\n"
GOOD = BAD.replace("sum += x;", "sum += x;  // NOLINT(calm-long-loop): a row of a table")
SAID = "this for loop of a coroutine never awaits, and nothing shows that it is short [calm-long-loop]\n  who:  sum of line 1\n"


class LintLoopsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_lint_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def run_calm(self, *words):
        return subprocess.run([os.environ["CALM_TEST_TOOL"], "lint-loops", *words], cwd=self.root, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def test_lint_loops_finds_loops_by_file_and_place(self):
        (self.root / "b.cpp").write_text(BAD)
        (self.root / "a.cpp").write_text(BAD + BAD)
        ran = self.run_calm(".")
        self.assertEqual((ran.returncode, ran.stderr), (1, ""), ran.stdout)
        places = [ran.stdout.index(f"{place}: {SAID}") for place in ("./a.cpp:3:3", "./b.cpp:3:3")]
        self.assertLess(places[0], ran.stdout.index("./a.cpp:8:3: "))
        self.assertLess(ran.stdout.index("./a.cpp:8:3: "), places[1])
        self.assertIn("\n  law:  GHO-3 ", ran.stdout)
        self.assertIn("\n  next: co_await calm::checkpoint(cx) in it, ", ran.stdout)
        self.assertTrue(ran.stdout.endswith("2 files, 3 warnings\n"), ran.stdout)

    def test_lint_loops_is_silent_about_code_in_order(self):
        (self.root / "good.cpp").write_text(GOOD)
        ran = self.run_calm("good.cpp")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "1 file, 0 warnings\n", ""))

    def test_lint_loops_finds_nothing_in_calm_its_examples_and_the_code_of_the_documents(self):
        documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
        shown = {name for path in documents for name in re.findall(r"<!-- code: ([^#\s]+\.[ch]pp)#", path.read_text())}
        self.assertGreater(len(shown), 20)
        ran = self.run_calm(*(str(ROOT / name) for name in ("calm", "apps", "examples", *sorted(shown))))
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_lint_loops_refuses_what_it_cannot_read(self):
        for words, says in ((("nowhere.cpp",), "nowhere.cpp"), ((), "PATH is required")):
            ran = self.run_calm(*words)
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
            self.assertIn(says, ran.stderr)


if __name__ == "__main__":
    unittest.main()
