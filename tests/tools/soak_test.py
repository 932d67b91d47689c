#!/usr/bin/env python3
"""soak_test.py — tools/soak.py repeats the test programs, prints seeds and says how to repeat a failure."""
import re
import sys
import unittest

sys.dont_write_bytecode = True
from stage import StageTest  # noqa: E402

PASSES = ('assert "max_success=100000" in os.environ["RC_PARAMS"], os.environ',
          'assert os.environ["CALM_REFERENCE_SEQUENCES"] == "1000000", os.environ',
          'assert os.environ["CALM_PROGRAM_COUNT"] == "100000", os.environ',
          'assert os.environ["CALM_EXPLORE_PROGRAMS"] == "100000", os.environ',
          'assert os.environ["CALM_TIMER_OPERATIONS"] == "10000000", os.environ',
          'assert os.environ["CALM_TIMER_SEED"] == os.environ["CALM_REFERENCE_SEED"], os.environ',
          'assert os.environ["CALM_EXPLORE_SEED"] == os.environ["CALM_REFERENCE_SEED"], os.environ',
          'assert os.environ["CALM_PROGRAM_SEED"] == os.environ["CALM_REFERENCE_SEED"], os.environ',
          'assert f"seed={os.environ[\'CALM_REFERENCE_SEED\']} " in os.environ["RC_PARAMS"], os.environ',
          'open(os.environ["CALM_PROBE_LOG"], "a").write("0\\tcalm/a.cpp:3\\ta: rare\\n")', "time.sleep(0.01)")


class SoakTest(StageTest):
    tool = "soak.py"
    has_root = False

    def soak(self, code, *parts, minutes="0.05"):
        return self.says(code, *parts, args=["--build", self.root / "build", minutes])

    def soak_two_rounds(self, *parts):
        """The first round takes as long as it takes: where programs start slowly the campaign gets more time for a second."""
        for minutes in ("0.05", "0.2", "0.8", "3.2"):
            said = self.soak(0, minutes=minutes)
            if "round 2" in said:
                break
        for part in (*parts, f"{minutes} minutes", "round 2"):
            self.assertIn(part, said)
        return said

    def test_runs_rounds_until_the_time_is_over(self):
        self.program("build/tests/law/calm_law_tests", *PASSES)
        self.program("build/tests/unit/calm_unit_tests", *PASSES)
        said = self.soak_two_rounds(
            "soak: 2 test programs, 100000 cases per property, 1000000 programs beside the reference model, 100000 in the lab, "
            "100000 explored, 10000000 timers, ", "round 2  calm_law_tests",
            "probes: 0 of 1 hit\n  never hit: calm/a.cpp:3 a: rare\n", "soak: nothing broke\n")
        seeds = re.findall(r"seed (\d+) ", said)
        self.assertGreater(len(seeds), 2)
        self.assertEqual(len(seeds), len(set(seeds)), "every run has a seed of its own")

    def test_leaves_out_a_program_that_the_build_no_longer_makes(self):
        self.program("build/tests/law/calm_law_tests", *PASSES)
        self.program("build/tests/unit/calm_gone_tests", *PASSES)
        self.write("build/build.ninja", "build tests/law/calm_law_tests | other: LINK main.o\n")
        self.assertNotIn("calm_gone_tests", self.soak(0, "soak: 1 test programs", "calm_law_tests"))

    def test_completes_the_first_round(self):
        self.program("build/tests/law/calm_law_tests", "time.sleep(0.3)")
        self.assertNotIn("round 2", self.soak(0, "round 1  calm_law_tests  seed ", " ok\n", minutes="0.0001"))

    def test_cuts_a_later_round_when_the_time_is_over(self):
        # Every second run of the program goes on for ever: the first of a campaign never does.
        self.program("build/tests/law/calm_law_tests", "import pathlib", "here = pathlib.Path('been_here')",
                     "again = here.exists() and here.read_text() == str(os.getppid())", "here.write_text(str(os.getppid()))",
                     "time.sleep(600 if again else 0)")
        self.soak_two_rounds("round 1", " ok\n", "cut: the time is over\n", "soak: nothing broke\n")

    def test_gives_the_command_that_repeats_a_failure(self):
        program = self.program("build/tests/law/calm_law_tests",
                               'print("Falsifiable after 12 tests")',
                               'print("[  FAILED  ] Cancel.CAN_4_keeps_it (3 ms)")',
                               'print("[  FAILED  ] Seeds/Cancel.CAN_5_x/3")', "sys.exit(1)")
        said = self.soak(1, "calm: calm_law_tests failed: Cancel.CAN_4_keeps_it Seeds/Cancel.CAN_5_x/3\n",
                         "  | Falsifiable after 12 tests", "soak: something broke")
        seed = re.search(r"seed (\d+) ", said)[1]
        self.assertIn(f"next: RC_PARAMS='seed={seed} max_success=100000' CALM_REFERENCE_SEED={seed} "
                      f"CALM_REFERENCE_SEQUENCES=1000000 CALM_PROGRAM_SEED={seed} CALM_PROGRAM_COUNT=100000 "
                      f"CALM_TIMER_SEED={seed} CALM_TIMER_OPERATIONS=10000000 "
                      f"CALM_EXPLORE_SEED={seed} CALM_EXPLORE_PROGRAMS=100000 {program} "
                      "--gtest_filter=Cancel.CAN_4_keeps_it:Seeds/Cancel.CAN_5_x/3\n", said)

    def test_reports_a_crash_without_a_failed_test(self):
        program = self.program("build/tests/law/calm_law_tests", "print('boom')", "os.abort()")
        self.soak(1, "calm: calm_law_tests stopped with -6", "  | boom", f" CALM_EXPLORE_PROGRAMS=100000 {program}\n")

    def test_refuses_bad_usage(self):
        self.refuses("soak.py: no test program in ", args=["--build", self.root])
        self.program("build/tests/calm_x_tests")
        for minutes in ("0", "-2", "ten", "nan", "inf"):
            self.refuses(f"soak.py: MINUTES is a number above 0, not '{minutes}'", args=["--build", "build", minutes])
        self.refuses("soak.py: the following arguments are required: --build")


if __name__ == "__main__":
    unittest.main()
