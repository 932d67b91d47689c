#!/usr/bin/env python3
"""fuzz_test.py — tools/fuzz.py runs targets, repeats known inputs and shows what broke."""
import sys
import unittest

sys.dont_write_bytecode = True
from stage import StageTest  # noqa: E402

PLAY = ("options = dict(word[1:].split('=') for word in sys.argv[1:] if word[0] == '-')",
        "paths = [word for word in sys.argv[1:] if word[0] != '-']")
FINDS_NOTHING = (*PLAY, "print('#2 INITED cov: 10', '#9 DONE cov: 293', sep='\\n', file=sys.stderr)",
                 "print('stat::number_of_executed_units: 4790742', file=sys.stderr)",
                 "print('stat::new_units_added:          190', file=sys.stderr)",
                 "open('calls', 'a').write(' '.join(sys.argv[1:]) + '\\n')")
BREAKS = (*PLAY, "print('calm: invariant broken: a == b', '  law:    BUD-2', sep='\\n', file=sys.stderr)",
          "print('==1== ERROR: libFuzzer', file=sys.stderr)",
          "if options: open(options['artifact_prefix'] + 'crash-1', 'wb').write(bytes(range(60, 80)))", "sys.exit(77)")


class FuzzTest(StageTest):
    tool = "fuzz.py"

    def fuzz(self, code, *parts, words=()):
        return self.says(code, *parts, args=["--build", "build", *words])

    def test_prints_a_line_per_target(self):
        self.program("build/tests/fuzz/fuzz_budget", *FINDS_NOTHING)
        self.program("build/tests/fuzz/fuzz_other", *FINDS_NOTHING)
        said = self.fuzz(0, "fuzz: 2 targets, 60 s each\n", "fuzz: 2 targets, nothing broke\n")
        self.assertRegex(said, r"fuzz_budget +4,790,742 executions +190 new units +coverage +293\n")
        calls = (self.root / "calls").read_text()
        self.assertIn("-max_total_time=60 -max_len=1024", calls)
        self.assertTrue((self.root / "build/fuzz-corpus/fuzz_budget").is_dir())

    def test_runs_the_named_targets_for_the_given_time(self):
        self.program("build/tests/fuzz/fuzz_budget", *FINDS_NOTHING)
        self.program("build/tests/fuzz/fuzz_other", *FINDS_NOTHING)
        self.assertNotIn("fuzz_other", self.fuzz(0, "fuzz_budget", words=["5", "budget"]))
        self.assertIn("-max_total_time=5 ", (self.root / "calls").read_text())

    def test_shows_the_input_that_broke_a_target_and_goes_on(self):
        self.program("build/tests/fuzz/fuzz_a", *BREAKS)
        self.program("build/tests/fuzz/fuzz_b", *FINDS_NOTHING)
        self.fuzz(1, "calm: fuzz_a broke on build/fuzz-crashes/fuzz_a/crash-1 (20 bytes)\n"
                     "  | calm: invariant broken: a == b\n  |   law:    BUD-2\n"
                     "  0000  3c 3d 3e 3f 40 41 42 43 44 45 46 47 48 49 4a 4b  <=>?@ABCDEFGHIJK\n"
                     "  0010  4c 4d 4e 4f                                      LMNO\n"
                     "  next: build/tests/fuzz/fuzz_a build/fuzz-crashes/fuzz_a/crash-1\n",
                  "keep the input in tests/fuzz/regressions/fuzz_a/", "fuzz_b ", "fuzz: 1 of 2 targets broke: fuzz_a\n")

    def test_repeats_known_inputs_first(self):
        self.program("build/tests/fuzz/fuzz_a", *FINDS_NOTHING)
        self.write("tests/fuzz/regressions/fuzz_a/once", "x")
        self.fuzz(0, "fuzz_a: 1 known input repeated\n")
        first, _ = (self.root / "calls").read_text().splitlines()
        self.assertEqual(first, f"{self.root}/tests/fuzz/regressions/fuzz_a/once")

    def test_reports_a_known_input_that_breaks_again(self):
        self.program("build/tests/fuzz/fuzz_a", *BREAKS)
        self.write("tests/fuzz/regressions/fuzz_a/once", "AB")
        said = self.fuzz(1, "calm: fuzz_a broke on tests/fuzz/regressions/fuzz_a/once (2 bytes)\n", "41 42",
                         "next: build/tests/fuzz/fuzz_a tests/fuzz/regressions/fuzz_a/once\n")
        self.assertNotIn("keep the input", said)

    def test_reports_a_target_that_stops_without_an_input(self):
        self.program("build/tests/fuzz/fuzz_a", "print('no memory', file=sys.stderr)", "sys.exit(1)")
        self.fuzz(1, "calm: fuzz_a stopped with 1 and left no input\n  | no memory\n")

    def test_refuses_bad_usage(self):
        self.refuses("fuzz.py: no fuzz target in build/tests/fuzz", args=["--build", "build"])
        self.program("build/tests/fuzz/fuzz_a", *FINDS_NOTHING)
        for seconds in ("0", "-3", "5x", "1.5"):
            self.refuses(f"fuzz.py: SECONDS is a whole number from 1 on, not '{seconds}'",
                         args=["--build", "build", seconds])
        self.refuses("fuzz.py: no target 'b'; there are fuzz_a", args=["--build", "build", "b"])


if __name__ == "__main__":
    unittest.main()
