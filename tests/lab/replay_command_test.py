#!/usr/bin/env python3
"""A failing test of the lab prints one command, and that command fails in the same way."""
import os
import re
import subprocess
import unittest

PROGRAM = os.environ["CALM_LAB_FAILING"]
COMMAND = re.compile(r"^ +replay: (CALM_LAB_SCHEDULE=\S+ \S+ --gtest_filter=\S+)$", re.MULTILINE)
RUN = re.compile(r"^seed (\d+) digest ([0-9a-f]{16})$", re.MULTILINE)


def run(command, **variables):
    return subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60,
                          env={**os.environ, **variables}, check=False)


def problem(output):
    """The text of the first problem, without the lines of GoogleTest around it."""
    lines = output.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("calm: "))
    end = next(at for at, line in enumerate(lines) if line.startswith("calm lab: the schedule is "))
    return lines[start:end]


class ReplayCommand(unittest.TestCase):
    def test_LAB_3_the_printed_command_repeats_the_failure(self):
        first = run(f"{PROGRAM} --gtest_filter=Failing.under_some_seeds")
        self.assertEqual(first.returncode, 1, first.stdout)
        commands = COMMAND.findall(first.stdout)
        self.assertEqual(len(commands), 1, first.stdout)
        self.assertGreater(len(RUN.findall(first.stdout)), 1, "the first seed should not fail, or the test shows nothing")

        again = run(commands[0])
        self.assertEqual(again.returncode, 1, again.stdout)
        self.assertEqual(RUN.findall(again.stdout), RUN.findall(first.stdout)[-1:])
        self.assertEqual(problem(again.stdout), problem(first.stdout))
        self.assertEqual(COMMAND.findall(again.stdout), commands)

    def test_LAB_3_LAB_7_the_command_of_a_campaign_makes_the_one_run_that_failed(self):
        first = run(f"{PROGRAM} --gtest_filter=Failing.under_a_cancel")
        self.assertEqual(first.returncode, 1, first.stdout)
        self.assertRegex(first.stdout, r"(?m)^[2-9] points$")
        commands = COMMAND.findall(first.stdout)
        self.assertGreaterEqual(len(commands), 1, first.stdout)
        again = run(commands[0])
        self.assertEqual(again.returncode, 1, again.stdout)
        self.assertRegex(again.stdout, r"(?m)^1 points$")
        self.assertIn("calm: deadlock: nothing can run", again.stdout)
        self.assertEqual(COMMAND.findall(again.stdout), commands[:1])

    def test_LAB_3_LAB_5_the_command_of_an_exploration_makes_the_one_run_that_failed(self):
        first = run(f"{PROGRAM} --gtest_filter=Failing.in_some_schedules")
        self.assertEqual(first.returncode, 1, first.stdout)
        self.assertIn("it needs 0 preemptions", first.stdout)
        commands = COMMAND.findall(first.stdout)
        self.assertEqual(len(commands), 1, first.stdout)
        again = run(commands[0])
        self.assertEqual(again.returncode, 1, again.stdout)
        self.assertRegex(again.stdout, r"(?m)^1 executions$")
        self.assertIn("calm: the program ended as Err", again.stdout)
        self.assertEqual(COMMAND.findall(again.stdout), commands)

    def test_LAB_3_a_seed_from_the_environment_is_used(self):
        output = run(f"{PROGRAM} --gtest_filter=*another*", CALM_LAB_SEED="123").stdout
        self.assertIn("other seed 123\n", output)

    def test_LAB_3_a_schedule_leaves_programs_of_another_name_alone(self):
        failed = run(f"{PROGRAM} --gtest_filter=Failing.under_some_seeds").stdout
        word = COMMAND.findall(failed)[0].split()[0].partition("=")[2]
        self.assertIn("other seed 77\n", run(f"{PROGRAM} --gtest_filter=*another*", CALM_LAB_SCHEDULE=word).stdout)

    def test_LAB_3_a_word_that_cannot_be_read_stops_the_test(self):
        for name, value, why in (("CALM_LAB_SCHEDULE", "calm1-s1", "no checksum at the end"),
                                 ("CALM_LAB_SEED", "12x", "\"12x\" is no seed")):
            with self.subTest(name):
                result = run(f"{PROGRAM} --gtest_filter=*another*", **{name: value})
                self.assertEqual(result.returncode, 2)
                self.assertIn(f"calm: {name}: ", result.stderr)
                self.assertIn(why, result.stderr)
                self.assertIn(f"unset {name}", result.stderr)


if __name__ == "__main__":
    unittest.main()
