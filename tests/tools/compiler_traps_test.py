#!/usr/bin/env python3
"""compiler_traps_test.py — tools/compiler_traps.py notices every answer that is not the expected one."""
import sys
import unittest

sys.dont_write_bytecode = True
from stage import StageTest  # noqa: E402

EXPECTED = """# A comment.
trap   flags  cxx-a    cxx-b
first  -O0    has      has not
first  -O2    has not  has not
"""
PROBE = "// trap: something goes wrong\n// flags: -O0; -O2\n"


class CompilerTrapsTest(StageTest):
    tool = "compiler_traps.py"
    has_root = False

    def setUp(self):
        super().setUp()
        self.environment["PATH"] = f"{self.root}/bin"
        self.write("EXPECTED", EXPECTED)
        self.write("first.cpp", PROBE)
        self.compiler("cxx-a", 'said = "has the bug" if "-O0" in sys.argv else "has not"')
        self.compiler("cxx-b", 'said = "has not"')

    def compiler(self, name, *lines):
        """Its program prints what the lines put into `said` and ends with `code`."""
        self.program(f"bin/{name}", "code = 0", *lines, "program = sys.argv[sys.argv.index('-o') + 1]",
                     f"text = f'#!{sys.executable}\\nprint({{said!r}})\\nraise SystemExit({{code}})\\n'",
                     "open(program, 'w').write(text)", "os.chmod(program, 0o755)")

    def asks(self, code, *parts, args=()):
        return self.says(code, *parts, args=["--folder", self.root, *args])

    def test_prints_the_table_when_all_is_as_expected(self):
        self.assertEqual(self.asks(0), EXPECTED.partition("\n")[2])

    def test_finds_an_answer_that_is_not_the_expected_one(self):
        self.compiler("cxx-b", 'said = "has the bug"')
        self.asks(1, "calm: first with cxx-b -O2: `has not` is expected, the answer is `has` (something goes wrong)",
                  "\n  rule: ", "\n  next: ", "--write")

    def test_finds_a_trap_that_has_gone(self):
        self.compiler("cxx-a", 'said = "has not"')
        self.asks(1, "calm: first with cxx-a -O0: `has` is expected, the answer is `has not`")

    def test_finds_a_probe_that_says_something_else(self):
        self.compiler("cxx-b", 'said = "perhaps"')
        self.asks(1, "first with cxx-b -O0: the probe does not tell", "it said:\nperhaps\n")

    def test_finds_a_probe_that_does_not_end_well(self):
        self.compiler("cxx-b", 'said, code = "has not", 3')
        self.asks(1, "first with cxx-b -O2: the probe does not tell", "ended with 3")

    def test_finds_a_probe_that_does_not_compile(self):
        self.program("bin/cxx-b", "print('error: no')", "raise SystemExit(1)")
        self.asks(1, "first with cxx-b -O0: the probe does not tell", "error: no")

    def test_takes_a_refusal_for_the_bug_where_the_probe_says_so(self):
        self.write("first.cpp", PROBE + "// refused: has the bug\n")
        self.program("bin/cxx-b", "print('error: no')", "raise SystemExit(1)")
        self.asks(1, "first with cxx-b -O0: `has not` is expected, the answer is `has`")

    def test_finds_a_probe_of_which_nothing_is_expected(self):
        self.write("second.cpp", PROBE)
        self.asks(1, "second with cxx-a -O0: nothing is expected, the answer is `has`")

    def test_finds_a_line_that_no_probe_answers(self):
        self.write("first.cpp", PROBE.replace("-O0; ", ""))
        self.asks(1, "EXPECTED has `first  -O0`, and no probe answers it")

    def test_leaves_out_a_compiler_that_is_not_installed(self):
        (self.root / "bin/cxx-a").unlink()
        self.assertEqual(self.asks(0), "trap   flags  cxx-b\nfirst  -O0    has not\nfirst  -O2    has not\n")

    def test_records_what_it_found_and_keeps_what_it_could_not_ask(self):
        (self.root / "bin/cxx-a").unlink()
        self.compiler("cxx-b", 'said = "has the bug"')
        self.write("second.cpp", PROBE.replace("-O0; ", ""))
        self.asks(0, args=["--write"])
        self.assertEqual((self.root / "EXPECTED").read_text(), "# A comment.\ntrap    flags  cxx-a    cxx-b\n"
                         "first   -O0    has      has\nfirst   -O2    has not  has\nsecond  -O2    ?        has\n")

    def test_records_nothing_while_a_probe_does_not_tell(self):
        self.compiler("cxx-b", 'said = "perhaps"')
        self.asks(1, "does not tell", args=["--write"])
        self.assertEqual((self.root / "EXPECTED").read_text(), EXPECTED)

    def test_refuses_what_it_cannot_use(self):
        self.refuses("cannot read", "missing.cpp", args=["--folder", self.root, "missing"])
        self.write("first.cpp", "int main() {}\n")
        self.refuses("first.cpp has no line `// trap: ...`", args=["--folder", self.root])
        self.write("EXPECTED", EXPECTED.replace("-O0    has ", "-O0    maybe "))
        self.refuses("is no line of the table", args=["--folder", self.root])
        self.write("EXPECTED", "")
        self.refuses("begins with no line", args=["--folder", self.root])

    def test_refuses_a_machine_without_a_compiler(self):
        for name in ("cxx-a", "cxx-b"):
            (self.root / "bin" / name).unlink()
        self.refuses("none of cxx-a cxx-b is installed", args=["--folder", self.root])


if __name__ == "__main__":
    unittest.main()
