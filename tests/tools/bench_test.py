#!/usr/bin/env python3
"""bench_test.py — tools/bench.py compares contenders and peers, refuses wrong answers, keeps the limit of header_cost."""
import json
import sys
import unittest
from xml.etree import ElementTree

sys.dont_write_bytecode = True
from stage import StageTest  # noqa: E402


class BenchTest(StageTest):
    tool = "bench.py"

    def contender(self, workload, name, answer, *ns, operations=1000):
        """A contender that takes ns[0] the first time, ns[1] the second, then the last for ever."""
        self.write(f"bench/{workload}/{name}.cpp", "")
        self.program(f"build/bench/bench_{workload}_{name}", "count = __file__ + '.count'",
                     "runs = os.path.getsize(count) if os.path.exists(count) else 0", "open(count, 'a').write('x')",
                     "open('order', 'a').write(os.path.basename(__file__) + '\\n')",
                     f"times = {list(ns)}", "took = times[min(runs, len(times) - 1)]",
                     f"print('{{\"answer\": {answer}, \"ns\": %d, \"operations\": {operations}}}' % took)")

    def part_contender(self, name, **parts):
        """A contender of the workload `sum` whose parts take so many ns; it does no others."""
        self.write(f"bench/sum/{name}.cpp", "")
        self.program(f"build/bench/bench_sum_{name}", f"parts = {parts}", "if sys.argv[1] not in parts: sys.exit(77)",
                     "print('{\"answer\": 7, \"ns\": %d, \"operations\": 1000, \"note\": \"%s\"}'"
                     f" % (parts[sys.argv[1]], 'as {name}' if sys.argv[1] == 'up' else ''))")

    def parts(self):
        self.write("bench/sum/PARTS", "# parts\nfloors: least none_of_down\n\nup    one step up\ndown  one step down\n")
        self.part_contender("calm", up=4000, down=6000)
        self.part_contender("least", up=1000, down=2000)
        self.part_contender("none_of_down", up=2000)

    def peer(self, name, ns, workers_max=2, answer="int(sys.argv[4])", rounds="int(sys.argv[5])", source=None):
        """A contender of the peer workload `spin`: cold it takes ten times as long as warm."""
        self.write("bench/spin/workload.ini", "[spin]\nabout = a turn\nsize = 9\nanswer = 7\noperations = 10\nsmall = 2 1\n")
        self.write(f"bench/spin/{source or ('go.go' if name == 'go' else name + '.cpp')}", "")
        self.program(f"build/bench/bench_peers_{name}",
                     "open('order', 'a').write(' '.join([os.path.basename(__file__), *sys.argv[1:]]) + '\\n')",
                     f"if int(sys.argv[2]) > {workers_max}: sys.exit(77)",
                     f"times = [{ns * 10}, {ns}][:{rounds}]",
                     f"print('{{\"answer\": %d, \"ns\": %s, \"cpu_ns\": %s}}' % ({answer}, times, times))")

    def bench(self, code, *parts, words=()):
        return self.says(code, *parts, args=["--build", "build", *words])

    def compiler(self, *lines):
        self.program("bin/clang++-19", "name = next(word for word in sys.argv if word.endswith('.cpp'))",
                     "text = open(name).read()", *lines)

    def test_prints_median_spread_and_ratio(self):
        self.contender("sum", "calm", 7, 2000, 1000, 4000, 3000)
        self.contender("sum", "floor", 7, 1500)
        said = self.bench(0, "sum, ns per operation, 7 runs each\n",
                          "In short:\nsum: calm 3.0 ns; times that: floor 0.50\n", words=["--only", "sum"])
        self.assertRegex(said, r"\n  calm +3.0 +1.0 +4.0 +1.00\n  floor +1.5 +1.5 +1.5 +0.50\n")

    def test_lets_contenders_take_turns(self):
        for name in ("zero", "calm", "floor"):
            self.contender("sum", name, 7, 1000)
        self.bench(0, words=["--only", "sum", "--quick"])
        self.assertEqual((self.root / "order").read_text().split(),
                         ["bench_sum_calm", "bench_sum_floor", "bench_sum_zero"] * 3)

    def test_writes_the_rows_as_json(self):
        self.contender("sum", "calm", 7, 2000)
        self.bench(0, words=["--only", "sum", "--quick", "--json", "rows.json"])
        self.assertEqual(json.loads((self.root / "rows.json").read_text()), [
            {"workload": "sum", "contender": "calm", "workers": 1, "median_ns": 2.0, "min_ns": 2.0, "max_ns": 2.0,
             "runs": 3}])

    def test_runs_the_parts_of_a_workload_and_shows_ratios_to_its_floors(self):
        self.parts()
        said = self.bench(0, "\nsum.up, ns per operation, 3 runs each\n  one step up\n",
                          "  calm: as calm\n  least: as least\n",
                          "In short:\nsum.up: calm 4.0 ns, 4.00 least, 2.00 none_of_down\n"
                          "sum.down: calm 6.0 ns, 3.00 least\n", words=["--only", "sum", "--quick"])
        self.assertRegex(said, r"median +min +max +to calm +to least to none_of_down\n")
        self.assertRegex(said, r"\n  calm +4.0 +4.0 +4.0 +1.00 +4.00 +2.00\n")

    def test_leaves_out_a_contender_that_does_not_do_a_part(self):
        self.parts()
        self.bench(0, words=["--only", "sum.down", "--quick", "--json", "rows.json"])
        rows = json.loads((self.root / "rows.json").read_text())
        self.assertEqual([(row["workload"], row["contender"], row["median_ns"]) for row in rows],
                         [("sum.down", "calm", 6.0), ("sum.down", "least", 2.0)])

    def test_fails_on_a_part_that_nobody_does(self):
        self.part_contender("calm", up=1000)
        self.write("bench/sum/PARTS", "down  one step down\n")
        self.bench(1, "calm: sum.down: no contender does this part\n", words=["--only", "sum"])

    def test_fails_on_a_wrong_answer(self):
        self.contender("sum", "calm", 7, 2000)
        self.contender("sum", "floor", 8, 1000)
        self.bench(1, "calm: sum: floor answers 8, calm answers 7\n", "  rule: all contenders of a workload give the",
                   "  next: compare bench/sum/floor.cpp with bench/sum/calm.cpp", words=["--only", "sum"])

    def test_fails_on_a_contender_that_breaks(self):
        self.contender("sum", "calm", 7, 2000)
        program = self.program("build/bench/bench_sum_calm", "print('boom', file=sys.stderr)", "sys.exit(3)")
        self.bench(1, "calm: bench_sum_calm stopped with 3: boom\n", words=["--only", "sum"])
        program.write_text(f"#!{sys.executable}\nprint('fast')\n")
        self.bench(1, "calm: bench_sum_calm printed 'fast\\n'", words=["--only", "sum"])

    def test_compares_peers_with_one_and_two_workers(self):
        self.peer("calm", 40, workers_max=1)
        self.peer("floor", 10, workers_max=1)
        self.peer("go", 80)
        said = self.bench(0, "spin, ns per operation, 3 runs each\n  a turn\n", "  calm: does not do this with 2 workers\n",
                          "spin: 1 worker: calm 4.0 ns; times that: floor 0.25, go 2.00\n  2 workers: calm has none\n",
                          words=["--only", "spin", "--quick", "--json", "rows.json", "--plots", "pictures"])
        self.assertRegex(said, r"\n  calm +1 +4.0 +4.0 +4.0 +40.0 +4.0 +1.00 +1.00 +4.00 *\n")
        self.assertRegex(said, r"\n  go +2 +8.0 +8.0 +8.0 +80.0 +8.0 +- +- +8.00 +1.00\n")
        rows = json.loads((self.root / "rows.json").read_text())
        self.assertEqual(rows[0], {"workload": "spin", "contender": "calm", "workers": 1, "median_ns": 4.0, "min_ns": 4.0,
                                   "max_ns": 4.0, "runs": 3, "cold_ns": 40.0, "cpu_ns": 4.0, "unit": "ns", "ratio": 1.0,
                                   "to_floor": 4.0})
        self.assertEqual([(row["contender"], row["workers"]) for row in rows],
                         [("calm", 1), ("floor", 1), ("go", 1), ("go", 2)])
        for picture, words in (("spin", "calm ×1"), ("ratios", "<title>go 2.00</title>")):
            text = (self.root / "pictures" / f"{picture}.svg").read_text()
            self.assertIn(words, text)
            ElementTree.fromstring(text)

    def test_writes_the_ratios_of_peers_as_json(self):
        self.peer("calm", 40, workers_max=1)
        self.peer("go", 100)

        def rows(key):
            self.bench(0, words=["--only", "spin", "--quick", "--json", "rows.json"])
            written = json.loads((self.root / "rows.json").read_text())
            return [(row["contender"], row["workers"], row.get(key)) for row in written]
        self.assertEqual(rows("ratio"), [("calm", 1, 1.0), ("go", 1, 2.5), ("go", 2, None)])  # calm has none with two
        self.assertEqual(rows("to_floor"), [("calm", 1, None), ("go", 1, None), ("go", 2, None)])
        self.peer("floor", 20, workers_max=1)
        self.assertEqual(rows("to_floor"), [("calm", 1, 2.0), ("floor", 1, 1.0), ("go", 1, 5.0), ("go", 2, 5.0)])

    def test_lets_peers_take_turns(self):
        for name in ("go", "calm"):
            self.peer(name, 10)
        self.bench(0, words=["--only", "spin", "--quick"])
        self.assertEqual((self.root / "order").read_text().splitlines(),
                         [f"bench_peers_{name} spin {workers} 9 7 2" for workers in (1, 2) for name in ("calm", "go")] * 3)

    def test_says_which_peer_is_missing(self):
        self.peer("calm", 10)
        self.peer("go", 10)
        (self.root / "build/bench/bench_peers_go").unlink()
        self.bench(0, "  go: MISSING, bench_peers_go is not built\n", words=["--only", "spin", "--quick"])
        (self.root / "build/bench/bench_peers_calm").unlink()
        self.refuses("bench.py: build/bench/bench_peers_calm is not built", args=["--build", "build", "--only", "spin"])

    def test_fails_on_a_peer_with_a_wrong_answer(self):
        self.peer("calm", 10, answer="8")
        self.bench(1, "calm: spin: bench_peers_calm printed ", "one line {\"answer\": 7, ", words=["--only", "spin"])
        self.peer("calm", 10, rounds="1")
        self.bench(1, "calm: spin: bench_peers_calm printed ", ", 2 of each", words=["--only", "spin"])
        self.program("build/bench/bench_peers_calm", "print('spin answers 8', file=sys.stderr)", "sys.exit(1)")
        self.bench(1, "calm: bench_peers_calm stopped with 1: spin answers 8\n", words=["--only", "spin"])

    def test_keeps_the_contenders_that_are_asked_for(self):
        for name in ("calm", "floor", "go"):
            self.peer(name, 10)
        self.bench(0, "spin: calm go\n", words=["--list", "--contenders", "calm,go"])
        self.bench(0, "peer_go\n", words=["--packages"])
        self.assertEqual(self.bench(0, words=["--packages", "--contenders", "calm,floor"]), "\n")
        self.refuses("bench.py: no contender 'none'", args=["--contenders", "calm,none"])

    def test_runs_a_contender_that_has_a_second_name_under_both(self):
        self.peer("calm", 40)
        self.peer("calm_multi", 50, workers_max=1, source="calm.cpp")
        self.peer("tokio", 60, source="tokio.rs")
        self.peer("tokio_multi", 100, workers_max=1, source="tokio.rs")
        self.bench(0, "spin: calm calm_multi tokio tokio_multi\n", words=["--list", "--only", "spin"])
        self.bench(0, "peer_tokio\n", words=["--packages"])
        self.bench(0, "peer_tokio\n", words=["--packages", "--contenders", "calm,tokio_multi"])
        said = self.bench(0, "  calm_multi: does not do this with 2 workers\n",
                          "  tokio_multi: does not do this with 2 workers\n",
                          "1 worker: calm 4.0 ns; times that: calm_multi 1.25, tokio 1.50, tokio_multi 2.50\n"
                          "  2 workers: calm 4.0 ns; times that: tokio 1.50\n",
                          words=["--only", "spin", "--quick", "--plots", "pictures"])
        self.assertRegex(said, r"\n  contender   workers .*\n")
        self.assertIn("tokio_multi ×1", (self.root / "pictures/spin.svg").read_text())

    def test_asks_peers_for_small_answers(self):
        self.peer("calm", 10)
        self.peer("floor", 10, workers_max=1)
        self.contender("sum", "calm", 7, 2000)
        self.bench(0, "smoke: 1 workloads, 3 right answers of calm, floor\n", words=["--smoke"])
        self.assertIn("bench_peers_calm spin 2 2 1 2\n", (self.root / "order").read_text())

    def test_fails_when_calm_takes_more_than_the_limit_of_a_workload(self):
        self.peer("calm", 40)
        self.peer("go", 90)
        lines = (self.root / "bench/spin/workload.ini").read_text()
        self.write("bench/spin/workload.ini", lines + "unit = bytes\nlimit = 4\n")
        self.bench(0, "times that: go 2.2", words=["--only", "spin", "--quick"])  # others may take more
        self.write("bench/spin/workload.ini", lines + "unit = bytes\nlimit = 3.5\n")
        self.bench(1, "calm: spin: calm takes 4.0 bytes\n", "  rule: a turn takes at most 3.5 bytes\n", "  next: ",
                   words=["--only", "spin", "--quick"])

    def test_refuses_a_workload_that_is_not_described(self):
        self.write("bench/spin/workload.ini", "[spin]\nabout = a turn\n")
        self.refuses("bench/spin/workload.ini: 'small'", args=["--list"])

    def test_measures_headers_over_an_empty_file(self):
        self.compiler("end = time.process_time() + (0.2 if 'calm/model' in text else 0.1 if text else 0)",
                      "while time.process_time() < end: pass")
        said = self.says(0, "calm/model/outcome.hpp", "limit 400 ms\n", args=["--only", "header_cost", "--quick"])
        self.assertRegex(said, r"\n  functional +\d+ +\d+ +\d+ +0\.[3-9]\d*\n")

    def test_fails_when_a_header_costs_more_than_its_limit(self):
        self.compiler("end = time.process_time() + (0.45 if 'calm/model' in text else 0)",
                      "while time.process_time() < end: pass")
        self.says(1, "calm: #include <calm/model/outcome.hpp> costs 4", "  rule: the header costs at most 400 ms",
                  "  next: ", args=["--only", "header_cost", "--quick"])

    def test_grants_a_slow_machine_a_limit_in_proportion_to_what_string_costs_there(self):
        self.compiler("end = time.process_time() + (0.45 if 'calm/model' in text else 0.4 if '<string>' in text else 0)",
                      "while time.process_time() < end: pass")
        self.says(0, "header_cost: calm/model/outcome.hpp 4", " ms, limit 5", args=["--only", "header_cost", "--quick"])

    def test_refuses_a_header_that_does_not_compile(self):
        self.compiler("print('unit.cpp:1: not found', file=sys.stderr)", "sys.exit('calm' in text)")
        self.refuses("bench.py: clang++-19 does not compile <calm/model/outcome.hpp>: unit.cpp:1: not found",
                     args=["--only", "header_cost"])

    def test_lists_workloads_and_contenders(self):
        self.contender("sum", "floor", 7, 2000)
        self.contender("sum", "calm", 7, 2000)
        self.bench(0, "header_cost: calm/model/outcome.hpp", "\nsum: calm floor\n", words=["--list"])
        self.write("bench/sum/PARTS", "up    one step up\ndown  one step down\n")
        self.bench(0, "\nsum.up: calm floor\nsum.down: calm floor\n", words=["--list"])

    def test_refuses_bad_usage(self):
        self.contender("sum", "calm", 7, 2000)
        self.refuses("bench.py: no workload 'x'; there are header_cost sum and the parts", args=["--only", "x"])
        self.refuses("bench.py: no workload 'sum.up'", args=["--only", "sum.up"])
        self.refuses("bench.py: sum needs --build DIR", args=["--only", "sum"])
        self.write("bench/sum/new.cpp", "")
        self.refuses("bench.py: build/bench/bench_sum_new is not built", args=["--build", "build", "--only", "sum"])
        self.refuses("bench.py: cannot write none/rows.json", args=["--build", "build", "--json", "none/rows.json"])
        self.write("bench/sum/PARTS", "floors: least\nup  one step up\n")
        self.refuses("bench/sum/PARTS: the floor 'least' is no contender", args=["--list"])


if __name__ == "__main__":
    unittest.main()
