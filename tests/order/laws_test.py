#!/usr/bin/env python3
"""laws_test.py — tools/laws.py finds laws without tests, tests without laws, and a list that grows.

Usage: tests/order/laws_test.py [LawsTest.test_...]; every test is a ctest test of its own, order.checker....
"""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
from tree import TreeTest  # noqa: E402

SPEC = """# the laws
- **I1 ownership** Every task has a region.
- OUT-1 Four kinds.
- OUT-2 Join takes the worse; see CAN-4.
- CAN-4 Strengthening.
- CAN-10 A witness.
- IO-1 Drivers.
"""
NOT_YET = """# what waits
I1     kernel: the region tree
IO-1   io: drivers   # after the reactor

[partly]
CAN-10  the runtime must own the counter
"""
TESTS = ("Outcome.OUT_1_four_kinds", "compile_fail.OUT_2_no_join_of_strangers", "Seeds/Cancel.CAN_4_keeps_the_stronger/3",
         "Witness.CAN_10_steps", "unit.other")


class LawsTest(TreeTest):
    tool = "laws.py"

    def setUp(self):
        super().setUp()
        self.write("spec/SPEC.md", SPEC)
        self.write("spec/NOT_YET", NOT_YET)
        self.write("calm/model/outcome.hpp", "// Laws: OUT-1..2\n")
        self.write("calm/model/reason.hpp", "// Laws: CAN-4,10\n")
        self.tests(*TESTS)

    def tests(self, *names, disabled=(), program="calm_other_tests"):
        self.write("tests.json", json.dumps({"tests": [
            {"name": name, "command": [f"/somewhere/{program}", f"--gtest_filter={name}"],
             "properties": [{"name": "DISABLED", "value": True}] if name in disabled else []}
            for name in names]}))

    def run_tool(self, *words):
        return super().run_tool(*(words or ("--tests", self.root / "tests.json")))

    def test_accepts_laws_in_order(self):
        said = self.accepts()
        self.assertEqual(said, "laws: 4 of 6 have tests, 1 of them partly; 2 not yet (spec/NOT_YET)\n"
                               "  tested   OUT-1 OUT-2 CAN-4\n"
                               "  partly   CAN-10 the runtime must own the counter\n"
                               "  not yet  I1\n"
                               "           IO-1\n")

    # the spec and its tests

    def test_finds_a_law_without_a_test(self):
        self.write("spec/SPEC.md", SPEC + "- CAN-5 Propagation.\n")
        self.finds("calm: spec/SPEC.md:8 law CAN-5 has no test\n", "rule: every law has a test",
                   "next: write a test whose name starts with CAN_5_")

    def test_finds_a_law_whose_only_test_is_called_otherwise(self):
        self.tests("Outcome.OUT_1_x", "Outcome.has_OUT_2_inside", "OUT_22.x_OUT_2", "Cancel.CAN_4_x", "Cancel.CAN_10_x")
        self.finds("law OUT-2 has no test", "test OUT_22.x_OUT_2 carries OUT-22, which is not in spec/SPEC.md")

    def test_finds_a_law_test_without_a_law(self):
        self.tests(*TESTS, program="calm_law_tests")
        self.finds("test unit.other of calm_law_tests carries no law", "rule: a test in tests/law starts with its law")

    def test_accepts_a_test_that_carries_several_laws(self):
        self.tests("Outcome.OUT_1_OUT_2_CAN_4_CAN_10_all_of_them")
        self.accepts()

    def test_accepts_a_test_that_carries_a_promise(self):
        self.write("spec/NOT_YET", NOT_YET.replace("I1  ", "# "))
        self.write("calm/kernel/region.hpp", "// I1: the tree\n")
        self.tests(*TESTS, "Tree.I1_OUT_1_one_owner")
        self.assertIn("tested   I1 OUT-1", self.accepts())

    def test_finds_a_law_that_the_spec_has_twice(self):
        self.write("spec/SPEC.md", SPEC + "- OUT-1 Five kinds.\n")
        self.finds("spec/SPEC.md:8 law OUT-1 stands on line 3 already")

    def test_finds_a_test_that_carries_an_unknown_law(self):
        self.tests(*TESTS, "Cancel.CAN_4_CAN_99_x")
        self.finds("test Cancel.CAN_4_CAN_99_x carries CAN-99, which is not in spec/SPEC.md")

    def test_finds_a_disabled_test(self):
        self.tests(*TESTS, disabled=["Outcome.OUT_1_four_kinds"])
        self.finds("test Outcome.OUT_1_four_kinds is disabled", "spec/SPEC.md:3 law OUT-1 has no test")

    def test_finds_a_disabled_test_in_the_answer_of_ctest(self):
        lines = [f'add_test([=[{name}]=] "true")' for name in TESTS]
        self.write("build/CTestTestfile.cmake", "\n".join(lines))
        ask = ("--tests", "-", "--build", self.root / "build", "--ctest", os.environ.get("CALM_TEST_CTEST", "ctest"))
        self.accepts(*ask)
        lines.append(f"set_tests_properties([=[{TESTS[0]}]=] PROPERTIES DISABLED TRUE)")
        self.write("build/CTestTestfile.cmake", "\n".join(lines))
        self.finds(f"test {TESTS[0]} is disabled", args=ask)
        self.assertFalse((self.root / "build/Testing").exists(), "asking must not touch the log of a running ctest")

    # the list

    def test_finds_a_listed_law_that_has_a_test(self):
        self.write("calm/io/driver.hpp", "// IO-1\n")
        self.tests(*TESTS, "Io.IO_1_probe")
        self.finds("spec/NOT_YET:3 lists IO-1, but Io.IO_1_probe tests it", "remove its line from spec/NOT_YET:3")

    def test_finds_a_partly_tested_law_without_a_test(self):
        self.tests(*TESTS[:3])
        self.finds("spec/NOT_YET:6 lists CAN-10 as partly tested, but it has no test")

    def test_finds_an_unknown_law_in_the_list(self):
        self.write("spec/NOT_YET", "REG-7  kernel\n" + NOT_YET)
        self.finds("spec/NOT_YET:1 names REG-7, which is not in spec/SPEC.md")

    def test_finds_a_law_that_is_listed_twice(self):
        self.write("spec/NOT_YET", NOT_YET + "IO-1  drivers\n")
        self.finds("spec/NOT_YET:7 names IO-1 again, first on line 3")

    # the source

    def test_finds_a_tested_law_that_no_code_names(self):
        self.write("calm/model/reason.hpp", "// Laws: CAN-10, not XCAN-4\n")
        self.write("tools/laws.py", "CAN-4\n")
        self.finds("spec/SPEC.md:5 law CAN-4 is tested by Seeds/Cancel.CAN_4_keeps_the_stronger/3",
                   "no file under calm tools names it")

    def test_accepts_a_law_that_code_names_as_an_identifier(self):
        self.write("calm/model/reason.hpp", "CALM_REQUIRE(CAN_4, ok, 10);\nCALM_INVARIANT(CAN_10, ok);\n")
        self.accepts()

    def test_finds_an_unknown_law_in_code(self):
        self.write("calm/model/late.hpp", "\n// OUT-1..2\n// Laws: OUT-1..3\n")
        said = self.finds("calm/model/late.hpp:3 names OUT-3, which is not in spec/SPEC.md")
        self.assertEqual(said.count("calm: "), 1, said)

    # the history of the list

    def test_finds_a_list_that_grows(self):
        self.start_history()
        self.commit()
        self.write("spec/NOT_YET", "CAN-4  not today\n" + NOT_YET)
        self.tests(*(name for name in TESTS if "CAN_4" not in name))
        self.finds("spec/NOT_YET:1 lists CAN-4 again", "spec/NOT_YET only gets shorter: CAN-4 was tested at ")

    def test_finds_a_list_that_has_grown_in_an_older_commit(self):
        self.test_finds_a_list_that_grows()
        self.commit()
        self.write("spec/NOT_YET", "\n" + (self.root / "spec/NOT_YET").read_text())
        self.commit()
        self.finds("spec/NOT_YET:2 lists CAN-4 again", "spec/NOT_YET only gets shorter: CAN-4 was tested at ")

    def test_finds_a_law_that_falls_back_to_partly(self):
        self.start_history()
        self.commit()
        self.write("spec/NOT_YET", NOT_YET + "OUT-2  half of it\n")
        self.finds("spec/NOT_YET:7 lists OUT-2 again", "OUT-2 was tested at ")
        self.commit()
        self.finds("spec/NOT_YET:7 lists OUT-2 again")

    def test_finds_a_law_that_falls_from_partly_to_the_list(self):
        self.start_history()
        self.commit()
        self.write("spec/NOT_YET", NOT_YET.replace("[partly]\n", ""))
        self.tests(*TESTS[:3])
        self.finds("spec/NOT_YET:5 lists CAN-10 again")

    def test_accepts_a_list_that_shrinks(self):
        self.start_history()
        self.commit()
        self.write("calm/io/driver.hpp", "// IO-1\n")
        self.tests(*TESTS, "Io.IO_1_probe")
        self.write("spec/NOT_YET", NOT_YET.replace("IO-1 ", "#") + "IO-1  the epoll driver\n")
        self.accepts()
        self.commit()
        self.write("spec/NOT_YET", "I1  kernel\n")
        self.accepts()

    def test_accepts_a_new_law_on_the_list(self):
        self.start_history()
        self.commit()
        self.write("spec/SPEC.md", SPEC + "- CAN-5 Propagation.\n- CAN-6 Close.\n")
        self.write("spec/NOT_YET", "CAN-5  kernel\n" + NOT_YET + "CAN-6  the kernel\n")
        self.tests(*TESTS, "Cancel.CAN_6_close")
        self.write("calm/model/close.hpp", "// CAN-6\n")
        self.accepts()

    # bad input

    def test_refuses_a_malformed_line_in_the_list(self):
        for line in ("CAN-4\n", "reason only\n", "[later]\n"):
            with self.subTest(line):
                self.write("spec/NOT_YET", NOT_YET + line)
                self.refuses("spec/NOT_YET:7: expected")

    def test_refuses_tests_that_are_not_built(self):
        self.tests(*TESTS, "unit_tests_NOT_BUILT")
        self.refuses("not built yet: unit_tests_NOT_BUILT")

    def test_refuses_tests_that_are_not_from_ctest(self):
        self.write("tests.json", "{}")
        self.refuses("ctest --show-only=json-v1")

    def test_refuses_to_ask_ctest_without_a_build(self):
        self.refuses("--tests - needs --build DIR", args=["--tests", "-"])


if __name__ == "__main__":
    unittest.main()
