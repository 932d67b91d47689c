#!/usr/bin/env python3
"""soak_test.py — tools/soak.py holds limits, repeats tests, prints seeds and says how to repeat a failure."""
import fnmatch
import importlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
from stage import TOOLS, StageTest  # noqa: E402

PASSES = ('assert "max_success=100000" in os.environ["RC_PARAMS"], os.environ',
          'assert os.environ["CALM_REFERENCE_SEQUENCES"] == "1000000", os.environ',
          'assert os.environ["CALM_PROGRAM_COUNT"] == "100000", os.environ',
          'assert os.environ["CALM_EXPLORE_PROGRAMS"] == "100000", os.environ',
          'assert os.environ["CALM_THREADS_COUNT"] == "10000", os.environ',
          'assert os.environ["CALM_THREADS_SEED"] == os.environ["CALM_REFERENCE_SEED"], os.environ',
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
            "soak: 2 test programs, 1000 repeats of thread tests, 100000 cases per property, 1000000 programs beside the "
            "reference model, 100000 in the lab, 10000 on threads, 100000 explored, 10000000 timers, ", "round 2  calm_law_tests",
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
                      f"CALM_EXPLORE_SEED={seed} CALM_EXPLORE_PROGRAMS=100000 CALM_THREADS_SEED={seed} "
                      f"CALM_THREADS_COUNT=10000 {program} "
                      "--gtest_filter=Cancel.CAN_4_keeps_it:Seeds/Cancel.CAN_5_x/3\n", said)

    def test_reports_a_crash_without_a_failed_test(self):
        program = self.program("build/tests/law/calm_law_tests", "print('boom')", "os.abort()")
        self.soak(1, "calm: calm_law_tests stopped with -6", "  | boom", f" CALM_THREADS_COUNT=10000 {program}\n")

    def runtime_tests(self, *lines):
        """A program that plays calm_runtime_tests: `limits`, `repeats` and `seed` are what it was asked for."""
        return self.program("build/tests/unit/calm_runtime_tests",
                            "words = ' '.join(sys.argv)", "limits = '=*LimitsOn*' in words",
                            "repeats = words.split('--gtest_repeat=')[1].split()[0] if 'repeat' in words else None",
                            "seed = os.environ.get('CALM_THREADS_SEED')",
                            "print('[==========] 7 tests from 2 test suites ran. (1 ms total)')", *lines)

    def test_prints_what_the_runtime_is_held_to(self):
        self.runtime_tests("if limits:",
                           "    assert os.environ['CALM_PARKED_TASKS'] == '1000000' and os.environ['CALM_LIMITS'] == 'strict'",
                           "    assert os.environ['CALM_IDLE_MS'] == '10000'",
                           "    print('  on 2 workers: 1000000 parked tasks ended in 7 ms')")
        self.soak(0, "limits on 2 workers: 1000000 parked tasks ended in 7 ms\n", minutes="0.0001")

    def test_ends_when_a_limit_does_not_hold(self):
        program = self.runtime_tests("if limits:", "    print('[  FAILED  ] Workers/LimitsOn.I2_x/2')", "    sys.exit(1)")
        said = self.soak(1, "calm: calm_runtime_tests failed: Workers/LimitsOn.I2_x/2\n",
                         "next: CALM_PARKED_TASKS=1000000 CALM_IDLE_MS=10000 CALM_LIMITS=strict "
                         f"{program} --gtest_filter=Workers/LimitsOn.I2_x/2\n", "soak: something broke")
        self.assertNotIn("round 1", said)

    def test_repeats_thread_tests_in_lots_with_a_seed_each(self):
        self.runtime_tests("if repeats: open('lots', 'a').write(repeats + ' ' + seed + '\\n')")
        for minutes in ("0.05", "0.2", "0.8"):  # more where programs start slowly
            (self.root / "lots").unlink(missing_ok=True)
            said = self.says(0, args=["--build", self.root / "build", "--repeats", "120", minutes])
            if "threads: 120 of" in said:
                break
        for part in ("threads  50 of 120 repeats of 7 tests on 1, 2 and 8 workers", "threads  120 of 120 repeats",
                     "threads: 120 of 120 repeats of 7 tests on 1, 2 and 8 workers\nsoak: nothing broke\n"):
            self.assertIn(part, said)
        runs = [[int(word) for word in line.split()] for line in (self.root / "lots").read_text().splitlines()]
        self.assertEqual(sum(repeats for repeats, _ in runs), 120)
        self.assertEqual(len({seed for _, seed in runs}), len(runs), "every part of a lot has a seed of its own")
        told = [int(seed) for seed in re.findall(r"^threads .* seed (\d+) ", said, re.M)]
        self.assertEqual(len(told), 3)
        for _, seed in runs:
            self.assertTrue(any(0 <= seed - first < 1000 for first in told), "it is counted from that of the lot")

    def test_cuts_the_repeats_when_the_time_is_over(self):
        self.runtime_tests("if repeats: time.sleep(0.05)")
        self.soak(0, "threads: 50 of 1000 repeats of 7 tests", "soak: nothing broke\n", minutes="0.0001")

    def test_gives_the_repeats_all_of_the_time(self):
        # A lot takes two thirds of the time: when half of it is over there is a second one to come.
        for seconds in (1, 4, 16, 64):  # more where programs start slowly
            self.runtime_tests(f"if repeats: time.sleep({2 * seconds / 3})")
            said = self.soak(0, minutes=str(seconds / 60))
            if "threads: 100 of 1000" in said:
                break
        self.assertIn("threads: 100 of 1000 repeats of 7 tests", said)

    def test_repeats_every_suite_of_the_runtime_but_those_that_end_processes(self):
        sys.path.insert(0, str(TOOLS))
        wanted = importlib.import_module("soak").SHORT_FILTER.partition("-")[0].split(":")
        suites = set()
        for source in (TOOLS.parent / "tests/unit/runtime").glob("*_test.cpp"):
            suites.update(re.findall(r"^INSTANTIATE_TEST_SUITE_P\((\w+),\s*(\w+)", source.read_text(), re.M))
        self.assertGreater(len(suites), 20)
        self.assertIn(("Flavours", "Admission"), suites)
        for prefix, suite in sorted(suites - {("Terminating", "TerminateOn")}):
            self.assertTrue(any(fnmatch.fnmatch(f"{prefix}/{suite}.", pattern) for pattern in wanted), f"{prefix}/{suite}")

    def test_gives_the_seed_and_the_command_of_a_thread_test_that_failed(self):
        program = self.runtime_tests("if repeats:", "    print('[  FAILED  ] Workers/SharedSync.CHN_12_x/8')", "    sys.exit(1)")
        said = self.soak(1, "calm: calm_runtime_tests failed: Workers/SharedSync.CHN_12_x/8\n", "soak: something broke")
        seed = re.search(r"threads  seed (\d+) +FAILED", said)[1]
        self.assertRegex(said, f"next: CALM_THREADS_SEED={seed} {re.escape(str(program))} --gtest_repeat=[0-9]+ "
                               "--gtest_filter=Workers/SharedSync.CHN_12_x/8\n")

    def test_runs_the_tests_of_the_lab_that_hold_on_threads_on_every_number_of_workers(self):
        self.program("build/tests/unit/calm_cx_tests", "workers = os.environ.get('CALM_TEST_WORKERS')",
                     "if workers: open('workers', 'a').write(workers + ' ' + sys.argv[1] + '\\n')")
        self.says(0, args=["--build", self.root / "build", "--repeats", "1", "0.0001"])
        runs = [line.split() for line in (self.root / "workers").read_text().splitlines()]
        self.assertEqual(sorted(workers for workers, _ in runs), ["1", "2", "8"])
        for _, words in runs:
            self.assertIn(":Defer.CTX_4_takes_plain_functions_and_runs_them_with_the_others_newest_first:", words)

    def test_every_test_that_is_listed_for_workers_is_there(self):
        tests = TOOLS.parent / "tests"
        lines = [line for line in (tests / "ON_WORKERS").read_text().splitlines() if not line.startswith("#")]
        self.assertEqual(lines, sorted(set(lines)))
        known = set()
        for source in tests.rglob("*_test.cpp"):
            known.update(re.findall(r"^TEST(?:_P|_F)?\((\w+),\s*(\w+)\)", source.read_text(), re.M))
        for line in lines:
            suite, name = line.split()[1].split(".")
            self.assertIn((suite.split("/")[-1], name.split("/")[0]), known, line)

    def test_help_says_what_it_does_and_runs_nothing(self):
        self.says(0, "a million parked tasks", "a thousand times each on 1, 2 and 8", args=["--help"])

    def test_refuses_bad_usage(self):
        self.refuses("soak.py: no test program in ", args=["--build", self.root])
        self.program("build/tests/calm_x_tests")
        for minutes in ("0", "-2", "ten", "nan", "inf"):
            self.refuses(f"soak.py: MINUTES is a number above 0, not '{minutes}'", args=["--build", "build", minutes])
        self.refuses("soak.py: N is a number above 0, not '0'", args=["--build", "build", "--repeats", "0"])
        self.refuses("soak.py: the following arguments are required: --build")


if __name__ == "__main__":
    unittest.main()
