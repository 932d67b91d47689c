#!/usr/bin/env python3
"""probes_test.py — tools/probes.py adds up what the test programs wrote."""
import sys
import unittest

sys.dont_write_bytecode = True
from stage import StageTest  # noqa: E402


class ProbesTest(StageTest):
    tool = "probes.py"
    has_root = False

    def test_adds_up_over_programs_and_names_those_never_hit(self):
        never = "0\tcalm/b.cpp:9\tb: never, ever\n"
        log = self.write("probes.log", f"0\tcalm/a.cpp:10\ta: rare\n3\tcalm/a.cpp:20\ta: often\n{never}"
                                       f"1\tcalm/a.cpp:10\ta: rare\n0\tcalm/a.cpp:20\ta: often\n{never}")
        said = self.says(0, args=[log])
        self.assertEqual(said, "probes: 2 of 3 hit\n  never hit: calm/b.cpp:9 b: never, ever\n")

    def test_ignores_the_probes_of_tests_and_lines_that_are_none(self):
        log = self.write("probes.log", "0\ttests/x.cpp:1\tmine\n5\tcalm/a.cpp:1\tours\ngarbage\n\n")
        self.assertEqual(self.says(0, args=[log]), "probes: 1 of 1 hit\n")

    def test_says_so_when_nothing_was_recorded(self):
        self.assertEqual(self.says(0, args=["missing.log"]), "probes: none recorded\n")
        self.assertEqual(self.says(0, args=[self.write("empty.log", "")]), "probes: none recorded\n")

    def test_refuses_bad_usage(self):
        self.refuses("usage: tools/probes.py FILE")
        self.refuses("usage: tools/probes.py FILE", args=["a", "b"])
        self.refuses("usage: tools/probes.py FILE", args=["--what"])


if __name__ == "__main__":
    unittest.main()
