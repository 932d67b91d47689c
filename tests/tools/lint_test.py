#!/usr/bin/env python3
"""lint_test.py — tools/lint.py asks clang-format and clang-tidy, remembers the answers and says what to do."""
import json
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from stage import StageTest  # noqa: E402

# Everything with "unformatted" in it is; "bad" in a source or in what it includes is a finding there.
FORMAT = ("for name in sys.argv[1:]:",
          "    if name[0] != '-' and 'unformatted' in open(name).read():",
          "        print(f'{name}:3:1: error: code should be clang-formatted [-Wx]', file=sys.stderr)",
          "        sys.exit(1)")
TIDY = ("if '--version' in sys.argv: sys.exit()",
        "open('tidied', 'a').write(os.path.relpath(sys.argv[-1]) + '\\n')",
        "for name in (sys.argv[-1], os.path.join(os.path.dirname(sys.argv[-1]), 'a.hpp')):",
        "    for number, line in enumerate(open(name) if os.path.exists(name) else [], 1):",
        "        if 'bad' in line:",
        "            print(f'{name}:{number}:5: error: it is bad [bugprone-bad,-warnings-as-errors]\\n    note')")


class LintTest(StageTest):
    tool = "lint.py"

    def setUp(self):
        super().setUp()
        self.program("bin/clang-format-19", *FORMAT)
        self.program("bin/clang-tidy-19", *TIDY)
        self.write(".gitignore", "/build/\n/bin/\n/tidied\n")
        self.write("calm/a.hpp", "// good\n")
        self.write("calm/a.cpp", '#include "calm/a.hpp"\n')
        self.write("calm/b.cpp", "// good\n")
        self.commands("calm/a.cpp", "calm/b.cpp")
        self.git("init", "--quiet")

    def git(self, *words):
        subprocess.run(["git", "-C", self.root, *words], env=self.environment, check=True, capture_output=True)

    def commit(self):
        self.git("add", "--all")
        self.git("-c", "user.name=lint", "-c", "user.email=lint@test.invalid", "commit", "--quiet", "-m", "state")

    def commands(self, *names, extra=""):
        self.write("build/dev/compile_commands.json", json.dumps([
            {"directory": str(self.root / "build/dev"), "file": str(self.root / name),
             "command": f"/usr/bin/ccache clang++ -O1 {extra} -o x.o -c {self.root / name}"} for name in names]))

    def lint(self, code, *parts, words=()):
        return self.says(code, *parts, args=["--build", "build/dev", *words])

    def tidied(self):
        """The sources clang-tidy was asked about since the last call."""
        path = self.root / "tidied"
        names = sorted(path.read_text().split()) if path.exists() else []
        path.unlink(missing_ok=True)
        return names

    def test_accepts_a_tree_in_order(self):
        said = self.lint(0, "[1/2] calm/a.cpp\n[2/2] calm/b.cpp\n")
        self.assertTrue(said.endswith("lint: 3 files formatted, 2 files tidy\n"), said)

    def test_asks_again_only_about_what_has_changed(self):
        self.lint(0)
        self.assertEqual(self.tidied(), ["calm/a.cpp", "calm/b.cpp"])
        self.lint(0, "lint: 2 of 2 sources are as they were\n")
        self.assertEqual(self.tidied(), [])
        self.write("calm/a.hpp", "// better\n")
        self.lint(0, "lint: 1 of 2 sources are as they were\n[1/1] calm/a.cpp\n")
        self.assertEqual(self.tidied(), ["calm/a.cpp"])
        self.write("calm/.clang-tidy", "Checks: '*'\n")
        self.lint(0)
        self.assertEqual(self.tidied(), ["calm/a.cpp", "calm/b.cpp"])

    def test_remembers_findings(self):
        self.write("calm/b.cpp", "\nbad\n")
        found = ("calm/b.cpp:2:5: error: it is bad [bugprone-bad]\n    note\n",
                 "lint: 0 of 3 files not formatted, 1 finding of clang-tidy\n", "next: repair the code")
        self.assertNotIn("./dev fmt", self.lint(1, *found))
        self.tidied()
        self.lint(1, *found)
        self.assertEqual(self.tidied(), [])

    def test_shows_a_finding_in_a_header_once(self):
        self.write("calm/a.hpp", "bad\n")
        self.write("calm/c.cpp", '#include "a.hpp"\n')
        self.assertEqual(self.lint(1).count("calm/a.hpp:1:5: error: it is bad"), 1)

    def test_finds_unformatted_files(self):
        self.write("calm/c.hpp", "unformatted\n")
        self.lint(1, "calm/c.hpp:3: not formatted\n", "lint: 1 of 4 files not formatted, 0 findings",
                  "  next: ./dev fmt\n")

    def test_leaves_precompiled_headers_out(self):
        self.commands("calm/a.cpp", "calm/b.cpp",
                      extra="-Winvalid-pch -Xclang -include-pch -Xclang /b/cmake_pch.hxx.pch "
                            "-Xclang -include -Xclang /b/cmake_pch.hxx -include /b/cmake_pch.hxx -include kept.hpp")
        self.lint(0)
        entry = json.loads((self.root / "build/lint-cache/compile_commands.json").read_text())[0]
        self.assertEqual(entry["arguments"], ["clang++", "-O1", "-include", "kept.hpp", "-o", "x.o", "-c",
                                              str(self.root / "calm/a.cpp")])

    def test_lends_a_command_to_a_source_without_one(self):
        self.write("bench/x/calm.cpp", "// good\n")
        self.write("bench/x/asio.cpp", "bad\n")
        self.write("tests/compile_fail/wrong.cpp", "bad\n")
        self.assertTrue(self.lint(0).endswith("lint: 6 files formatted, 3 files tidy\n"))
        entries = json.loads((self.root / "build/lint-cache/compile_commands.json").read_text())
        lent = next(entry for entry in entries if entry["file"].endswith("bench/x/calm.cpp"))
        self.assertEqual(lent["arguments"][-1], str(self.root / "bench/x/calm.cpp"))

    def test_looks_at_changed_files_only(self):
        self.lint(0, "lint: 3 files formatted, 2 files tidy\n", words=["--changed"])  # no commit: all is new
        self.commit()
        self.lint(0, "lint: 0 files formatted, 0 files tidy\n", words=["--changed"])
        self.write("calm/a.hpp", "// changed\n")
        self.write("calm/new.hpp", "// new\n")
        self.lint(0, "lint: 2 files formatted, 1 files tidy\n", words=["--changed"])

    def test_looks_at_named_files_and_what_includes_them(self):
        self.lint(0, "lint: 1 files formatted, 1 files tidy\n", words=["calm/a.hpp"])
        self.assertEqual(self.tidied(), ["calm/a.cpp"])

    def test_tidies_only_below_the_folders_that_are_named(self):
        self.lint(0, "lint: 3 files formatted, 0 files tidy\n", words=["--tidy", "apps", "--tidy", "cal"])
        self.assertEqual(self.tidied(), [])
        self.lint(0, "lint: 3 files formatted, 2 files tidy\n", words=["--tidy", "apps", "--tidy", "calm/"])

    def test_shows_clang_tidy_sources_as_a_build_joins_them(self):
        self.write(".clang-tidy", "Checks: x\n")
        self.write("tests/.clang-tidy", "Checks: y\n")
        self.write("tests/t.cpp", "// good\n")
        unit, other = "build/dev/calm.dir/Unity/unity_0_cxx.cxx", "build/dev/tests.dir/Unity/unity_0_cxx.cxx"
        self.write(unit, "".join(f'#include "{self.root / name}"\n' for name in ("calm/a.cpp", "calm/b.cpp")))
        self.write(other, f'#include "{self.root / "tests/t.cpp"}"\n')
        self.commands(unit, other)
        self.lint(0, "lint: 4 files formatted, 3 files tidy\n", words=["--joined"])
        self.assertEqual(self.tidied(), [unit, "tests/t.cpp"])  # tests/ has settings of its own
        self.write("calm/b.cpp", "// better\n")
        self.lint(0, "lint: 1 of 2 sources are as they were\n", words=["--joined"])
        self.assertEqual(self.tidied(), [unit])

    def test_reports_a_crash_of_clang_tidy_and_does_not_remember_it(self):
        self.program("bin/clang-tidy-19", "if '--version' in sys.argv: sys.exit()", "print('boom', file=sys.stderr)",
                     "sys.exit(9)")
        self.lint(1, "calm/a.cpp:1:1: clang-tidy stopped with 9: boom\n")
        self.program("bin/clang-tidy-19", *TIDY)
        self.lint(0)

    def test_refuses_bad_usage(self):
        self.refuses("lint.py: the following arguments are required: --build")
        self.refuses("lint.py: none.cpp is no C++ file of the project", args=["--build", "build/dev", "none.cpp"])
        self.refuses("build/gcc/compile_commands.json does not exist", args=["--build", "build/gcc"])


if __name__ == "__main__":
    unittest.main()
