#!/usr/bin/env python3
"""scenario_test.py — `calm scenario` as a user meets it: what it runs, what it says of a bad file, what it writes.

Usage: tests/e2e/scenario_test.py [ScenarioTest.test_...]; every test is a ctest test of its own, e2e.scenario_...
Environment: CALM_TEST_TOOL, the tool.
"""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

HEAD = 'format = 1\nfamily = "region"\n'
OPEN = '\n[[scenario]]\nid = "region.x"\nlaw = ["REG-1"]\nabout = "a region closes"\n'
STEPS = ('steps = [\n  { create_region = "r", in = "root" },  # a comment\n  { close = "r" },\n'
         '  { region = "r", state = "Closed" },\n]\n')
WRONG = 'digest = "0123456789abcdef"\nsemantic = "fedcba9876543210"  # of today\n'


class ScenarioTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_scenario_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.environment = {name: value for name, value in os.environ.items() if name not in ("CI", "CALM_CI")}

    def write(self, text, name="x.toml"):
        (self.root / name).write_text(text)
        return name

    def run_calm(self, *words, **environment):
        return subprocess.run([os.environ["CALM_TEST_TOOL"], "scenario", *words], cwd=self.root, check=False, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, env={**self.environment, **environment})

    def passes(self, *words):
        ran = self.run_calm(*words)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        return ran.stdout

    def fails(self, *words, says):
        """Demands exit code 1, nothing on stderr and a line with each part."""
        ran = self.run_calm(*words)
        self.assertEqual((ran.returncode, ran.stderr), (1, ""), ran.stdout)
        for part in says:
            self.assertIn(part, ran.stdout)
        return ran.stdout

    def refuses(self, *words, says, **environment):
        """Demands exit code 2, exactly one line on stderr and nothing on stdout."""
        ran = self.run_calm(*words, **environment)
        self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
        self.assertRegex(ran.stderr, r"\Acalm: [^\n]+\n\Z")
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, ran.stderr)

    def refuses_text(self, text, *says):
        self.refuses(self.write(text), says=says)

    def good(self, name="x.toml"):
        """A file whose digests are those of today."""
        self.write(HEAD + OPEN + STEPS, name)
        self.passes(name, "--update")
        return name

    def test_scenario_runs_a_file_and_sums_up(self):
        self.assertEqual(self.passes(self.good()), "1 scenario, 0 failed\n")

    def test_scenario_runs_every_file_of_a_folder(self):
        self.good("a.toml")
        self.good("b.toml")
        self.write("no scenario", "notes.txt")
        self.assertEqual(self.passes("."), "2 scenarios, 0 failed\n")

    def test_scenario_runs_under_every_profile(self):
        self.good()
        for profile in ("server", "embedded", "tiny"):
            self.assertEqual(self.passes("x.toml", "--profile", profile), "1 scenario, 0 failed\n")

    def test_scenario_shows_a_difference_with_place_and_law(self):
        self.write(HEAD + OPEN + STEPS.replace('state = "Closed"', 'state = "Draining"'))
        said = self.fails("x.toml", says=['x.toml:11:3: region.x: region "r", state: expected Draining, found Closed [REG-1]',
                                          "1 scenario, 1 failed\n"])
        self.assertEqual(said.count("\n"), 2)

    def test_scenario_shows_an_answer_that_is_not_the_expected_one(self):
        self.write(HEAD + OPEN + STEPS.replace('{ close = "r" }', '{ close = "r", expect = "stale_handle" }'))
        self.fails("x.toml", says=['x.toml:10:3: region.x: close "r", answer: expected stale_handle, found ok [REG-1]'])

    def test_scenario_shows_a_digest_that_differs(self):
        self.write(HEAD + OPEN + STEPS + WRONG)
        self.fails("x.toml", says=["x.toml:13:10: region.x: digest: expected 0123456789abcdef, found ",
                                   "x.toml:14:12: region.x: semantic: expected fedcba9876543210, found "])

    def test_scenario_demands_that_a_digest_is_stated(self):
        self.write(HEAD + OPEN + STEPS)
        self.fails("x.toml", says=["digest: expected a stated value; calm scenario --update writes it"])

    def test_scenario_update_keeps_comments_and_layout(self):
        before = "# top\n" + HEAD + OPEN + STEPS + WRONG + OPEN.replace(".x", ".y") + STEPS + "\n# tail\n"
        self.write(before)
        self.passes("x.toml", "--update")
        after = (self.root / "x.toml").read_text()
        self.assertEqual(self.passes("x.toml"), "2 scenarios, 0 failed\n")
        digests = [line.split('"')[1] for line in after.splitlines() if line.startswith(("digest", "semantic"))]
        self.assertEqual((len(digests), digests[:2]), (4, digests[2:]))
        added = f'digest = "{digests[0]}"\nsemantic = "{digests[1]}"\n'
        expected = before.replace("0123456789abcdef", digests[0]).replace("fedcba9876543210", digests[1])
        self.assertEqual(after, expected.replace("]\n\n# tail", f"]\n{added}\n# tail"))

    def test_scenario_update_does_not_bless_a_wrong_step(self):
        text = HEAD + OPEN + STEPS.replace('state = "Closed"', 'state = "Draining"') + WRONG
        self.write(text)
        self.fails("x.toml", "--update", says=["expected Draining, found Closed"])
        self.assertEqual((self.root / "x.toml").read_text(), text)

    def test_scenario_update_never_runs_in_ci(self):
        text = HEAD + OPEN + STEPS + WRONG
        for name in ("CI", "CALM_CI"):
            self.write(text)
            self.refuses("x.toml", "--update", says=f"--update is not for CI, and {name} is set", **{name: "1"})
            self.assertEqual((self.root / "x.toml").read_text(), text)

    def test_scenario_report_has_a_record_for_each(self):
        self.good("a.toml")
        self.write(HEAD + OPEN.replace(".x", ".y") + STEPS + WRONG, "b.toml")
        self.fails("a.toml", "b.toml", "--report", "report.json", "--profile", "tiny", says=["2 scenarios, 1 failed"])
        records = json.loads((self.root / "report.json").read_text())
        self.assertEqual([record["id"] for record in records], ["region.x", "region.y"])
        for record in records:
            self.assertEqual(set(record), {"id", "file", "law", "format_version", "codec", "profile", "compiler", "commit",
                                           "state_digest", "semantic_digest", "difference", "differences"})
            self.assertEqual((record["format_version"], record["codec"], record["profile"]), (1, "calm-trace-1", "tiny"))
            self.assertRegex(record["compiler"], r"^(clang|g\+\+) \d+\.")
            self.assertRegex(record["commit"], r"^(unknown|[0-9a-f]{40,})$")
            self.assertRegex(record["semantic_digest"], r"^[0-9a-f]{16}$")
        self.assertEqual([record["difference"] for record in records], ["none", "regression"])
        self.assertEqual([difference["step"] for difference in records[1]["differences"]], ["digest", "semantic"])

    def test_scenario_report_tells_the_class_of_a_difference(self):
        doubt = 'spec_defect = "REG-7 is silent"\nsteps = [{ advance = "root" }]\n'
        unrunnable = 'steps = [{ spawn = "t", in = "root" }, { checkpoint = "t" }]\n'
        self.write(HEAD + OPEN + STEPS + WRONG + OPEN.replace(".x", ".doubt") + doubt + OPEN.replace(".x", ".not") + unrunnable)
        self.fails("x.toml", "--update", "--report", "report.json", says=["is not being polled", "1 with a defect of the spec"])
        records = json.loads((self.root / "report.json").read_text())
        self.assertEqual([record["difference"] for record in records], ["intentional", "spec defect", "harness defect"])

    def test_scenario_report_tells_of_a_file_that_does_not_load(self):
        self.write("format = ")
        self.refuses("x.toml", "--report", "report.json", says="x.toml:1:")
        records = json.loads((self.root / "report.json").read_text())
        self.assertEqual([(record["id"], record["difference"]) for record in records], [("x.toml", "harness defect")])

    def test_scenario_lists_ids_and_laws(self):
        self.write(HEAD + OPEN + STEPS)
        self.assertRegex(self.passes("x.toml", "--list"), r"\Aregion\.x +a region closes \[REG-1\]\n\Z")

    def test_scenario_runs_only_what_is_named(self):
        self.write(HEAD + OPEN + STEPS + OPEN.replace(".x", ".other") + STEPS)
        self.passes("x.toml", "--update", "--only", "region.other")
        self.assertEqual(self.passes("x.toml", "--only", "region.other"), "1 scenario, 0 failed\n")
        self.refuses("x.toml", "--only", "region.othr", says='unknown scenario "region.othr"; did you mean "region.other"?')

    def test_scenario_lists_its_steps(self):
        said = self.passes("--steps")
        self.assertIn("create_region = new name of a region\n", said)
        self.assertRegex(said, r"(?m)^    in +name of a region \(needed\)$")

    def test_scenario_without_a_file_says_so(self):
        self.refuses(says="scenario needs a FILE or a DIR")

    def test_scenario_names_a_file_that_is_not_there(self):
        self.refuses("gone.toml", says=["gone.toml", "cannot be read", "No such file"])

    def test_scenario_names_a_file_that_is_no_text(self):
        (self.root / "x.toml").write_bytes(bytes(range(256)))
        self.refuses("x.toml", says="x.toml:2:118: a scenario file is plain ASCII")

    def test_scenario_names_a_file_that_cannot_be_read(self):
        (self.root / "x.toml").mkdir()
        self.refuses("x.toml", says="there is no .toml file in x.toml")
        self.refuses("/proc/self/mem", says="cannot be read")

    def test_scenario_names_an_empty_file(self):
        self.refuses_text("", "x.toml: the file does not say its format")
        self.refuses_text(HEAD, "x.toml: there is no [[scenario]] in it")

    def test_scenario_names_an_unknown_profile(self):
        self.refuses(self.good(), "--profile", "tny", says='unknown profile "tny"; did you mean "tiny"?')

    def test_scenario_names_another_format(self):
        self.refuses_text("format = 2\n", "x.toml:1:10: format 2 is not known; this version reads 1")

    def test_scenario_names_an_unknown_family(self):
        self.refuses_text('format = 1\nfamily = "regoin"\n', 'x.toml:2:10: unknown family "regoin"; did you mean "region"?')

    def test_scenario_names_what_is_no_toml(self):
        self.refuses_text(HEAD + "[[scenario]\n", "x.toml:3:", "this is no TOML")
        self.refuses_text(HEAD + "# \u00e9t\u00e9\n", "x.toml:3:3: a scenario file is plain ASCII")
        self.refuses_text(HEAD + OPEN + STEPS.replace('{ close = "r" }', "}"), "x.toml:10: this is no TOML", "a bracket")

    def test_scenario_names_an_unknown_key(self):
        self.refuses_text(HEAD + OPEN + "stesp = []\n", 'x.toml:8:1: unknown key of scenario "stesp"; did you mean "steps"?')
        self.refuses_text(HEAD + OPEN + STEPS.replace("state =", "stat ="),
                          'x.toml:11:19: unknown key of step region "stat"; did you mean "state"? allowed: state, ')
        self.refuses_text(HEAD + OPEN + "config = { leak = 1 }\n", 'x.toml:8:12: unknown key of config "leak"')

    def test_scenario_names_an_unknown_step(self):
        self.refuses_text(HEAD + OPEN + STEPS.replace("close =", "clsoe ="),
                          'x.toml:10:5: unknown step "clsoe"; did you mean "close"?')

    def test_scenario_names_a_value_of_another_type(self):
        self.refuses_text(HEAD + OPEN + "steps = 3\n", 'x.toml:8:9: "steps" takes an array of tables, found a number')
        self.refuses_text(HEAD + OPEN + STEPS.replace('"Closed"', "1.5"),
                          'x.toml:11:27: "state" takes a text, found a number with a fraction')
        self.refuses_text(HEAD + OPEN + 'steps = [{ timers = -1 }]\n', '"timers" takes a number from 0 to')
        self.refuses_text(HEAD + OPEN + 'steps = [{ time = "2 hours" }]\n', '"time" takes a length of time such as "20ms"')

    def test_scenario_names_an_unknown_word(self):
        self.refuses_text(HEAD + OPEN + STEPS.replace('"Closed"', '"Closd"'),
                          'x.toml:11:27: unknown value of state "Closd"; did you mean "Closed"? allowed: Open, Closing, ')

    def test_scenario_names_an_unknown_record(self):
        self.refuses_text(HEAD + OPEN + STEPS.replace('{ close = "r" }', '{ close = "rr" }'),
                          'x.toml:10:13: unknown region "rr"; did you mean "r"? allowed: r, root')
        self.refuses_text(HEAD + OPEN + 'steps = [{ poll = "t" }]\n', 'unknown task "t"; there is none yet')

    def test_scenario_names_a_record_that_was_never_made(self):
        steps = 'steps = [\n{ spawn = "t", in = "root", expect = "region_not_open" },\n{ wake = "t" }]\n'
        self.refuses_text(HEAD + OPEN + steps, 'x.toml:10:10: unknown task "t"')

    def test_scenario_names_a_name_that_is_taken(self):
        self.refuses_text(HEAD + OPEN + 'steps = [{ create_region = "root", in = "root" }]\n', 'the name "root" is taken')

    def test_scenario_names_a_missing_key(self):
        self.refuses_text(HEAD + OPEN + 'steps = [{ spawn = "t" }]\n', 'step spawn needs the key "in": name of a region')
        self.refuses_text(HEAD + "[[scenario]]\n" + 'id = "x"\n', 'x.toml:3:1: a scenario needs the key "law"')

    def test_scenario_names_an_id_that_stands_twice(self):
        self.refuses_text(HEAD + OPEN + STEPS + OPEN + STEPS, 'the id "region.x" stands twice')

    def test_scenario_names_a_law_that_is_none(self):
        self.refuses_text(HEAD + OPEN.replace("REG-1", "rule 1") + STEPS, '"rule 1" is no law id')

    def test_scenario_names_an_expression_that_is_none(self):
        for expression, says in (("joni(ok, ok)", 'x.toml:8:22: unknown function "joni"; did you mean "join"?'),
                                 ("join(ok, nothing)", 'x.toml:8:31: unknown value "nothing"'),
                                 ("join(ok", "expected , or ) after an argument"),
                                 ("severity(ok, ok)", "severity takes 1 arguments, found 2"),
                                 ("", "an expression is missing"), ("1x", "neither a number nor a length of time")):
            with self.subTest(expression):
                self.refuses_text(HEAD + OPEN + f'steps = [{{ equal = ["{expression}", "ok"] }}]\n', says)


if __name__ == "__main__":
    unittest.main()
