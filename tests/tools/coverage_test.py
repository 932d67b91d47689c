#!/usr/bin/env python3
"""coverage_test.py — tools/coverage.py runs the tests, shows a table and keeps the floor."""
import json
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
from stage import StageTest  # noqa: E402


class CoverageTest(StageTest):
    tool = "coverage.py"

    def setUp(self):
        super().setUp()
        self.write("build/cov/CTestTestfile.cmake", "")
        (self.root / "build/cov/tests").mkdir()
        shutil.copy(shutil.which("true"), self.root / "build/cov/tests/calm_law_tests")
        self.program("bin/ctest", "name = os.environ['LLVM_PROFILE_FILE']", "open('profile_name', 'w').write(name)",
                     "open(name.replace('%p', '1').replace('%c', ''), 'w').write('counts')")
        self.program("bin/llvm-profdata-19", "open(sys.argv[-1], 'w').write('merged')")
        self.llvm_cov(reason=(40, 40), outcome=(58, 60))

    def llvm_cov(self, **lines):
        files = [{"filename": f"{self.root}/calm/model/{name}.cpp",
                  "summary": {"lines": {"covered": covered, "count": count}, "functions": {"covered": 1, "count": 2},
                              "branches": {"covered": 0, "count": 0}}} for name, (covered, count) in lines.items()]
        self.program("bin/llvm-cov-19", "if sys.argv[1] == 'show': open('shown', 'w').write(' '.join(sys.argv))",
                     f"else: print({json.dumps({'data': [{'files': files}]})!r})")

    def coverage(self, code, *parts):
        return self.says(code, *parts, args=["--build", "build/cov"])

    def test_shows_a_table_and_writes_pages(self):
        said = self.coverage(0, "coverage: 98.0 % of the lines of calm/, at least 95 % wanted; "
                                "pages in build/coverage/html/index.html\n")
        self.assertRegex(said, r"calm/model/outcome.cpp +96.7 % of +60 +50.0 % of +2 +100.0 % of +0\n")
        self.assertRegex(said, r"calm/ in all +98.0 % of +100 +50.0 % of +4 +100.0 % of +0\n")
        self.assertIn(f"-output-dir={self.root}/build/coverage/html", (self.root / "shown").read_text())
        self.assertIn(f"{self.root}/build/cov/tests/calm_law_tests", (self.root / "shown").read_text())

    def test_fails_below_the_floor(self):
        self.llvm_cov(reason=(39, 40), outcome=(50, 60))
        self.coverage(1, "coverage: 89.0 % of the lines",
                      "calm: the tests run too little of calm/, least of calm/model/outcome.cpp\n",
                      "  rule: at least 95 % of the lines\n", "  next: ")

    def test_counts_death_tests_where_the_build_allows_it(self):
        self.coverage(0)
        self.assertTrue((self.root / "profile_name").read_text().endswith("/%p.profraw"))
        self.write("build/cov/compile_commands.json", "-mllvm -runtime-counter-relocation")
        self.coverage(0)
        self.assertTrue((self.root / "profile_name").read_text().endswith("/%p%c.profraw"))

    def test_fails_with_the_tests(self):
        self.program("bin/ctest", "open(os.environ['LLVM_PROFILE_FILE'], 'w').write('counts')",
                     "print('1/2 Test one ... Passed', '', 'The following tests FAILED:', '  7 - Cancel.x', sep='\\n')",
                     "sys.exit(8)")
        said = self.coverage(1, "calm: The following tests FAILED:\n  7 - Cancel.x\n", "next: ./dev test",
                             "coverage: 98.0 %")
        self.assertNotIn("Passed", said)

    def test_refuses_what_it_cannot_measure(self):
        self.refuses(f"coverage.py: {self.root}/build is not a build with tests", args=["--build", "build"])
        self.program("bin/ctest")
        self.refuses("the tests left no profiles", args=["--build", "build/cov"])


if __name__ == "__main__":
    unittest.main()
