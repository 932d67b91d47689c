#!/usr/bin/env python3
"""layers_test.py — tools/layers.py finds what is out of order, and nothing else.

Usage: tests/order/layers_test.py [LayersTest.test_...]; every test is a ctest test of its own, order.checker....
"""
import os
import sys
import unittest

sys.dont_write_bytecode = True
from tree import TreeTest  # noqa: E402

LAYERS = """# rooms
check:  -
model:  check
kernel: check model
apps/tool: model
surface: calm.hpp
pure: model kernel
impure: thread chrono
impure: sys/epoll.h
"""


class LayersTest(TreeTest):
    tool = "layers.py"

    def setUp(self):
        super().setUp()
        self.write("calm/LAYERS", LAYERS)
        self.header("calm/calm.hpp", '#include "calm/kernel/region.hpp"\n#include "calm/model/state.hpp"')
        self.header("calm/check/require.hpp", "#include <cstdint>")
        self.header("calm/model/state.hpp", '#include "calm/check/require.hpp"\nenum class State : std::uint8_t { open };')
        self.header("calm/kernel/region.hpp", '#include <calm/model/state.hpp>\nstruct Region { State state; };')
        self.write("calm/kernel/region.cpp", '#include "calm/kernel/region.hpp"\n')
        self.header("apps/tool/show.hpp", "")
        self.write("apps/tool/main.cpp", '#include "calm/calm.hpp"\n#include "calm/model/state.hpp"\n#include "show.hpp"\n')

    def header(self, name, body):
        self.write(name, f"// what it is\n#pragma once\n\n{body}\n")

    def compiler(self):
        return "--compiler", os.environ.get("CALM_TEST_COMPILER", "clang++-19")

    def test_accepts_a_tree_in_order(self):
        said = self.accepts(*self.compiler())
        self.assertIn("order: includes ok (7 files in 3 rooms)", said)
        self.assertEqual(said.count(" ok "), 6, said)

    # includes

    def test_finds_a_wrong_include(self):
        self.header("calm/model/outcome.hpp", '#include <cstdint>\n#include "calm/kernel/region.hpp"')
        self.finds("calm: calm/model/outcome.hpp:5 includes calm/kernel/region.hpp\n",
                   "rule: calm/LAYERS: room model may include check\n", args=["includes"])

    def test_finds_a_wrong_include_in_angle_brackets(self):
        self.write("calm/check/require.cpp", "#  include <calm/model/state.hpp>\n")
        self.finds("calm/check/require.cpp:1 includes calm/model/state.hpp", "room check may include -", args=["includes"])

    def test_finds_every_wrong_include(self):
        self.write("calm/check/a.cpp", '#include "calm/model/state.hpp"\n#include "calm/kernel/region.hpp"\n')
        said = self.finds("a.cpp:1", "a.cpp:2", args=["includes"])
        self.assertIn("order: includes failed (2)", said)

    def test_finds_no_include_in_comments_and_strings(self):
        self.write("calm/check/text.cpp", '// #include "calm/model/state.hpp"\n/*\n#include "calm/model/state.hpp"\n*/\n'
                   'const char* a = R"x(\n#include "calm/model/state.hpp"\n)x";\nint n = 1\'000; const char* b = "/*";\n'
                   '#include "calm/kernel/region.hpp"\n')
        said = self.finds("calm/check/text.cpp:9 includes calm/kernel/region.hpp", args=["includes"])
        self.assertIn("order: includes failed (1)", said)

    def test_finds_a_missing_header(self):
        self.write("calm/model/a.cpp", '#include "calm/check/gone.hpp"\n')
        self.finds("calm/model/a.cpp:1 includes calm/check/gone.hpp, which does not exist", args=["includes"])

    def test_finds_a_relative_include(self):
        self.write("calm/model/a.cpp", '\n#include "state.hpp"\n')
        self.finds("calm/model/a.cpp:2 includes state.hpp", '"calm/room/file.hpp"', args=["includes"])

    def test_finds_an_include_that_walks_out_of_its_room(self):
        self.write("calm/model/a.cpp", '#include "calm/model/../kernel/region.hpp"\n')
        self.finds("calm/model/a.cpp:1 includes calm/model/../kernel/region.hpp", args=["includes"])

    def test_finds_a_folder_without_a_room(self):
        self.header("calm/attic/old.hpp", "")
        self.finds("calm/attic is a folder that calm/LAYERS does not know", args=["includes"])

    def test_finds_an_unlisted_surface_header(self):
        self.header("calm/extra.hpp", "")
        self.finds("calm/extra.hpp is not a surface header", "surface: calm.hpp", args=["includes"])

    def test_finds_a_room_that_includes_the_surface(self):
        self.write("calm/kernel/a.cpp", '#include "calm/calm.hpp"\n')
        self.finds("calm/kernel/a.cpp:1 includes calm/calm.hpp", "no room includes a surface header", args=["includes"])

    def test_finds_a_program_that_reaches_too_deep(self):
        self.write("apps/tool/deep.cpp", '#include "calm/kernel/region.hpp"\n')
        self.finds("apps/tool/deep.cpp:1 includes calm/kernel/region.hpp", "apps/tool may include model", args=["includes"])

    def test_lets_a_program_include_examples_and_a_room_not(self):
        self.header("examples/list.hpp", "")
        self.write("apps/tool/list.cpp", '#include "examples/list.hpp"\n')
        self.accepts("includes")
        self.write("calm/model/list.cpp", '#include "examples/list.hpp"\n')
        self.finds("calm/model/list.cpp:1 includes examples/list.hpp", args=["includes"])

    def test_finds_a_program_that_includes_another_programs_file(self):
        self.write("calm/LAYERS", LAYERS + "apps/other: *\n")
        self.write("apps/other/main.cpp", '#include "calm/kernel/region.hpp"\n#include "../tool/show.hpp"\n')
        said = self.finds("apps/other/main.cpp:2 includes ../tool/show.hpp", args=["includes"])
        self.assertIn("order: includes failed (1)", said)

    def test_finds_a_program_without_a_line(self):
        self.write("apps/stray/main.cpp", "int main() {}\n")
        self.finds("apps/stray is a folder that calm/LAYERS does not know", args=["includes"])

    # acyclic

    def test_finds_a_cycle_of_rooms(self):
        self.write("calm/LAYERS", LAYERS.replace("check:  -", "check:  kernel"))
        self.finds("calm/LAYERS:2 is part of a cycle: check -> kernel -> check", "the graph of rooms is acyclic",
                   args=["acyclic"])

    def test_finds_a_cycle_of_files(self):
        self.header("calm/model/a.hpp", '#include "calm/model/b.hpp"')
        self.header("calm/model/b.hpp", '#include "calm/model/a.hpp"')
        self.finds("calm/model/a.hpp:4 is part of a cycle: calm/model/a.hpp -> calm/model/b.hpp -> calm/model/a.hpp",
                   args=["acyclic"])

    # pure

    def test_finds_an_impure_header_in_model(self):
        self.header("calm/model/clock.hpp", "#include <chrono>")
        self.finds("calm/model/clock.hpp:4 includes chrono", "room model is pure and chrono is impure", args=["pure"])

    def test_finds_an_impure_header_in_kernel(self):
        self.write("calm/kernel/wait.cpp", '#include <vector>\n#include "sys/epoll.h"\n')
        self.finds("calm/kernel/wait.cpp:2 includes sys/epoll.h", "room kernel is pure and sys/epoll.h is impure",
                   args=["pure"])

    # names

    def test_finds_an_empty_name_of_a_file(self):
        for word in ("util", "helpers", "common", "misc"):
            self.write(f"tests/string_{word}.cpp", "")
        self.write("tests/manager-test.py", "")
        said = self.finds("tests/string_util.cpp has `util` in its name", "`helpers`", "`common`", "`misc`", "`manager`",
                          args=["names"])
        self.assertIn("order: names failed (5)", said)

    def test_finds_an_empty_name_of_a_folder(self):
        self.write("calm/common/place.hpp", "")
        self.finds("calm: calm/common has `common` in its name", args=["names"])

    def test_finds_an_empty_name_but_not_among_ignored_files(self):
        self.start_history()
        self.write(".gitignore", "/out/\n")
        self.write("out/util.o", "")
        self.accepts("names")
        self.write("docs/helper.md", "")
        self.finds("docs/helper.md", args=["names"])

    def test_accepts_a_name_that_contains_an_empty_name(self):
        self.write("docs/utility_commonly.md", "")
        self.accepts("names")

    # alone

    def test_finds_a_header_that_does_not_compile_alone(self):
        self.header("calm/model/needy.hpp", "inline std::vector<int> numbers;")
        self.finds("calm/model/needy.hpp does not compile by itself", "calm/model/needy.hpp:4:", "error",
                   "next: include what the header uses", args=["alone", *self.compiler()])

    def test_names_of_headers_that_include_each_other_the_one_that_does_not_compile_alone(self):
        self.header("calm/model/needy.hpp", "inline std::vector<int> numbers;")
        self.header("calm/model/rich.hpp", '#include <vector>\n#include "calm/model/needy.hpp"\ninline std::vector<int> more;')
        self.header("calm/model/richer.hpp", '#include "calm/model/rich.hpp"\ninline std::vector<int> most;')
        said = self.finds("calm/model/needy.hpp does not compile by itself", "order: alone failed (1)",
                          args=["alone", *self.compiler()])
        self.assertNotIn("calm/model/rich.hpp does not", said)

    def test_does_not_take_for_included_what_is_included_on_a_condition(self):
        self.header("calm/model/basis.hpp", "inline int basis = 1;")
        self.header("calm/model/wary.hpp", '#if 0\n#include "calm/model/basis.hpp"\n#endif\ninline int sum = basis + 1;')
        self.finds("calm/model/wary.hpp does not compile by itself", args=["alone", *self.compiler()])
        self.header("calm/model/wary.hpp", '#if 0\n#endif\n#include "calm/model/basis.hpp"\ninline int sum = basis + 1;')
        self.accepts("alone", *self.compiler())

    def test_leaves_a_header_to_the_build_that_its_source_includes_first(self):
        self.header("calm/model/needy.hpp", "inline std::vector<int> numbers;")
        self.write("calm/model/needy.cpp", '#include "calm/model/needy.hpp"\n#include <vector>\n')
        self.accepts("alone", *self.compiler())
        self.write("calm/model/needy.cpp", '#include <vector>\n#include "calm/model/needy.hpp"\n')
        self.finds("calm/model/needy.hpp does not compile by itself", args=["alone", *self.compiler()])

    def test_finds_a_missing_pragma_once(self):
        self.write("calm/model/twice.hpp", "// #pragma once\n")
        said = self.finds("calm/model/twice.hpp has no #pragma once", args=["alone", *self.compiler()])
        self.assertIn("order: alone failed (1)", said)

    # assume

    def test_finds_an_optimiser_assumption(self):
        uses = ["__builtin_assume(x > 0);", "__builtin_unreachable();", "[[assume(x > 0)]];", "std::unreachable();",
                "__assume(x);", "[[clang::assume(x)]];"]
        self.write("calm/check/fast.cpp", "\n".join(uses))
        said = self.finds(*(f"calm/check/fast.cpp:{line} uses" for line in range(1, 7)), "optimiser assumption",
                          args=["assume"])
        self.assertIn("order: assume failed (6)", said)

    def test_finds_a_bare_fence(self):
        self.write("calm/check/fence.cpp", "\nvoid f() { std::atomic_thread_fence(order); }\n")
        self.finds("calm/check/fence.cpp:2 uses atomic_thread_fence", "ThreadSanitizer", args=["assume"])

    def test_finds_no_assumption_in_comments_and_strings(self):
        self.write("calm/check/words.cpp", '// __builtin_assume\nconst char* a = "std::unreachable";\n')
        self.accepts("assume")

    # bad input

    def test_refuses_a_malformed_line_in_layers(self):
        for line, said in (("kernel check\n", "expected `name: words`"), ("Kernel: check\n", "`Kernel` is not a room"),
                           ("model: check\n", "model is listed twice"), ("extra: attic\n", "`attic`, which is not a room")):
            with self.subTest(line):
                self.write("calm/LAYERS", LAYERS + line)
                self.refuses("calm/LAYERS:10: ", said)

    def test_refuses_an_unknown_check(self):
        self.refuses("no check is called order", args=["order"])

    def test_refuses_a_missing_compiler(self):
        self.refuses("no-such-compiler", args=["alone", "--compiler", "no-such-compiler"])


if __name__ == "__main__":
    unittest.main()
