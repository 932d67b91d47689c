#!/usr/bin/env python3
"""docs_test.py — tools/docs.py finds what is not true in a document, renews what it can, and leaves the rest alone.

Usage: tests/docs/docs_test.py [DocsTest.test_...]; every test is a ctest test of its own, docs.checker_...
"""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

EXAMPLE = """#include <cstdio>
int main() {
  // [hello]
  if (true) {
    std::puts("hello");
  }
  // [/hello]
}
"""
TRUE_BLOCK = """<!-- code: examples/hello.cpp#hello -->
```cpp
if (true) {
  std::puts("hello");
}
```
"""
TOOL = """#!/bin/sh
[ "$1" = fail ] && echo "calm: unknown command" >&2 && exit 2
printf 'one\\ntwo\\nthree\\n'
"""


class DocsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="calm_docs_")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.write("examples/hello.cpp", EXAMPLE)
        self.write("tree/apps/calm/calm", TOOL)
        (self.root / "tree/apps/calm/calm").chmod(0o755)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_tool(self, *words):
        command = [sys.executable, ROOT / "tools/docs.py", "--root", self.root, "--build", self.root / "tree", *words]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)

    def accepts(self, text):
        self.write("README.md", text)
        ran = self.run_tool()
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout

    def finds(self, text, *parts):
        self.write("README.md", text)
        ran = self.run_tool()
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        for part in ("calm: README.md:", "\n  rule: ", "\n  next: ", *parts):
            self.assertIn(part, ran.stdout)
        self.assertEqual(ran.stdout.count("calm: "), 1, ran.stdout)
        return ran.stdout

    def test_checker_accepts_a_true_document(self):
        text = "# Hello\n\nSee [hello](examples/hello.cpp), `examples/hello.cpp:4` and [above](#hello).\n\n"
        said = self.accepts(text + TRUE_BLOCK)
        self.assertEqual(said, "docs: ok (1 documents, 1 blocks are what they show)\n")

    def test_checker_finds_a_stale_block(self):
        self.finds("# Hello\n\n" + TRUE_BLOCK.replace("hello\")", "hallo\")"),
                   "README.md:3 shows code that is no longer that of examples/hello.cpp#hello", "next: ./dev docs\n")

    def test_checker_finds_a_missing_section(self):
        self.finds(TRUE_BLOCK.replace("#hello", "#bye"), "README.md:1 has a marker that names examples/hello.cpp#bye",
                   "`// [bye]`")

    def test_checker_takes_sections_of_files_whose_comments_begin_with_a_hash(self):
        self.write("examples/hello.toml", "a = 1\n# [hello]\nb = 2\n# [/hello]\n")
        self.accepts("<!-- code: examples/hello.toml#hello -->\n```toml\nb = 2\n```\n")

    def test_checker_finds_a_section_without_an_end(self):
        self.write("examples/hello.cpp", EXAMPLE.replace("  // [/hello]\n", ""))
        self.finds(TRUE_BLOCK, "does not have one `// [hello]` and after it one `// [/hello]`")

    def test_checker_finds_a_missing_file(self):
        self.finds(TRUE_BLOCK.replace("hello.cpp", "gone.cpp"), "names examples/gone.cpp, which does not exist")

    def test_checker_finds_a_marker_without_a_block(self):
        self.finds(f"{TRUE_BLOCK}<!-- code: examples/hello.cpp#hello -->\n\ntext\n\n```\nnot it\n```\n",
                   "README.md:7 has a marker that stands before no fenced block")

    def test_checker_finds_code_that_nothing_compiles(self):
        self.finds("```cpp\nint main() {}\n```\n", "README.md:1 shows C++ that no test compiles")

    def test_checker_accepts_other_languages_without_a_marker(self):
        self.accepts("```sh\n./dev test\n```\n\n```\n[text](gone.md)\n```\n")

    def test_checker_finds_stale_output(self):
        self.finds("<!-- output: calm tour -->\n```\none\n```\n", "shows what is no longer the output of calm tour")

    def test_checker_compares_the_first_lines_of_output(self):
        self.accepts("<!-- output: calm tour | head -2 -->\n```\none\ntwo\n```\n")

    def test_checker_shows_errors_as_a_terminal_does(self):
        self.accepts("<!-- output: calm fail -->\n```\ncalm: unknown command\n```\n")

    def test_checker_runs_only_the_calm_tool(self):
        for command in ("rm -r examples", "calm tour | sh", "calm-other", "calmer"):
            with self.subTest(command):
                self.finds(f"<!-- output: {command} -->\n```\n```\n", f"runs `{command}`; only `calm ...`")

    def test_checker_finds_a_broken_link(self):
        self.finds("text\n[gone](docs/gone.md) and [site](https://example.org/gone)\n",
                   "README.md:2 links to docs/gone.md, which does not exist")

    def test_checker_finds_a_link_to_a_missing_heading(self):
        self.write("docs/guide.md", "# The guide, part 1\n")
        self.accepts("[guide](docs/guide.md#the-guide-part-1)\n")
        self.finds("[guide](docs/guide.md#part-2)\n", "links to docs/guide.md#part-2, but guide.md has no such heading")

    def test_checker_finds_a_path_that_does_not_exist(self):
        self.accepts("`examples/hello.cpp`, `examples/`, `build/dev/x`, `a/b`, `std::string`, `n/2`\n")
        self.finds("see `examples/gone.cpp`\n", "README.md:1 speaks of examples/gone.cpp, which does not exist")

    def test_checker_renews_what_is_stale_and_nothing_else(self):
        head, tail = "# Hello\n\ntext\n\n", "\nmore\n\n<!-- output: calm tour | head -1 -->\n```\nold\nolder\n```\n\nend\n"
        self.write("README.md", head + TRUE_BLOCK.replace("if (true)", "if (false)") + tail)
        self.run_tool("--write")
        self.assertEqual((self.root / "README.md").read_text(), head + TRUE_BLOCK + tail.replace("old\nolder", "one"))

    def test_checker_refuses_to_guess_output_without_the_tool(self):
        self.write("README.md", "<!-- output: calm tour -->\n```\none\n```\n")
        (self.root / "tree/apps/calm/calm").unlink()
        ran = self.run_tool()
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr.count("\n")), (2, "", 1), ran.stderr)
        self.assertIn("there is no calm tool", ran.stderr)

    def test_the_guide_lists_the_kinds_of_the_code(self):
        header = (ROOT / "calm/model/cancel_kind.hpp").read_text()
        code = re.findall(r'\{CancelKind::\w+, "(\w+)", (\d+), (\d+), \d+\}', header)
        guide = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \|", (ROOT / "docs/guide/cancellation.md").read_text(), re.M)
        self.assertEqual(guide, code)
        self.assertEqual(len(code), 11)


if __name__ == "__main__":
    unittest.main()
