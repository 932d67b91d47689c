#!/usr/bin/env python3
"""trace_test.py — `calm trace` as a user meets it: what it shows and writes, and what it says of a bad file.

Usage: tests/e2e/trace_test.py [TraceCommandTest.test_...]; every test is a ctest test of its own, e2e.trace_...
Environment: CALM_TEST_TOOL, the tool; CALM_TEST_TRACES, the program that writes trace files.
"""
import json
import os
import re
import subprocess
import unittest
from collections import Counter, defaultdict

from traces import TraceTest

# What an event of the trace-event format needs by its phase, beyond ph, ts, pid, tid and name.
PERFETTO_FIELDS = {"M": {"args"}, "B": set(), "E": set(), "i": {"s", "args"}, "b": {"cat", "id"}, "e": {"cat", "id"},
                   "s": {"cat", "id"}, "f": {"cat", "id", "bp"}}


class TraceCommandTest(TraceTest):
    def test_trace_shows_every_event_on_a_line(self):
        lines = self.prints("show", "server.json").splitlines()
        self.assertEqual(lines[0], "106 events, 3 regions, 5 tasks")
        self.assertIn('  t1 is "main", spawned at "server.cpp:12 in main", awaits at "server.cpp:20 in main"', lines)
        self.assertIn("      0.002s  #12 t4 in r3 reserve o1 ack (write)", lines)
        self.assertEqual(len(lines), 1 + 6 + 106)
        self.assertEqual([line for line in lines if " #" in line],
                         [line for line in self.prints("show", "server.trace").splitlines() if " #" in line])

    def test_trace_shows_one_task_or_region_alone(self):
        self.assertEqual(len(re.findall(r" #\d+ t3 ", self.prints("show", "server.json", "--of", "t3"))), 3)
        shown = [line for line in self.prints("show", "server.trace", "--of", "r2").splitlines()[1:]]
        self.assertTrue(shown and all(" in r2 " in line for line in shown), shown)
        self.refuses("show", "server.trace", "--of", "t99", says='no task or region "t99"')

    def test_trace_explains_an_event(self):
        said = self.prints("show", "server.json", "--event", "6")
        for part in ("#6 poll: t2 listener is polled.\n", "  at:     0s, worker 0\n", "  row:    t2 listener in r2 server\n",
                     "  cause:  #3 r2 server is opened below r1 root by t1 main.\n", "  laws:   TSK-6 BUD-5\n"):
            self.assertIn(part, said)
        self.refuses("show", "server.json", "--event", "107", says="the trace has no event #107")
        self.refuses("show", "server.json", "--event", "0", says="--event")

    def test_OBL_10_trace_is_checked_by_a_tool_that_knows_only_events(self):
        self.assertRegex(self.prints("check", "lab.trace"),
                         r"\A\d+ events, \d+ regions, \d+ tasks, 0 promises, closed at the end, dispatches checked: lawful\n\Z")
        for file in sorted(self.root.glob("random-*.trace")):
            self.assertRegex(self.prints("check", file.name), r"\A\d+ events, [^\n]*: lawful\n\Z")

    def test_trace_check_names_clause_event_and_law(self):
        trace = json.loads((self.root / "server.json").read_text())
        at = next(i for i, event in enumerate(trace["events"]) if event["kind"] == "complete")
        ended = trace["events"][at]
        del trace["events"][at]
        (self.root / "cut.json").write_text(json.dumps(trace))
        trace["digest"] = re.search(rb"the events have ([0-9a-f]{16})", self.run_calm("check", "cut.json").stderr)[1].decode()
        (self.root / "cut.json").write_text(json.dumps(trace))
        ran = self.run_calm("check", "cut.json")
        self.assertEqual((ran.returncode, ran.stderr), (1, b""))
        said = ran.stdout.decode()
        number = ended["sequence"]
        self.assertIn(f"calm: numbers: #{number + 1} 1 events are missing before #{number + 1}\n  seen: #{number + 1} ", said)
        self.assertIn("calm: region moves: #", said)
        self.assertIn("\n  law:  REG-4 Finalizing when nothing below is live\n", said)
        self.assertRegex(said, r"\n105 events, 3 regions, 5 tasks, 2 promises, [^\n]*: \d+ violations\n\Z")

    def test_LAB_4_trace_diff_tells_the_order_of_steps_that_commute_from_a_difference(self):
        for seed in range(1, 5):
            for example in ("three_children", "cancel_with_cleanup"):
                subprocess.run([os.environ["CALM_TEST_TOOL"], "run", "--lab", example, "--seed", str(seed), "--trace",
                                self.root / f"{example}{seed}.trace"], check=True, capture_output=True)
        said = self.prints("diff", "three_children1.trace", "three_children1.trace")
        self.assertIn("the same up to the order of steps that commute; swap distance 0\n", said)
        said = self.prints("diff", "three_children1.trace", "three_children2.trace")
        self.assertIn("the same up to the order of steps that commute; swap distance 2\n", said)
        self.assertEqual(self.prints("digest", "three_children1.trace").splitlines()[2],
                         self.prints("digest", "three_children2.trace").splitlines()[2])
        ran = self.run_calm("diff", "cancel_with_cleanup1.trace", "cancel_with_cleanup2.trace")
        self.assertEqual((ran.returncode, ran.stderr), (1, b""))
        said = ran.stdout.decode()
        self.assertRegex(said, r"\AA: 39 events, 13 steps in 12 layers, 11 switches \(fewest 11\), fingerprint [0-9a-f]{16}\nB: ")
        self.assertRegex(said, r"\nthey part in layer 6\n  A: #\d+ t1 poll\n +#\d+ t1 read r2\n  B: #\d+ t4 poll\n")
        self.refuses("diff", "random-0.trace", "lab.trace", says="A has no canonical form: the beginning of the trace is missing")

    def test_LAB_11_trace_has_two_forms_that_have_one_digest(self):
        said = self.prints("digest", "server.json")
        self.assertRegex(said, r"\Atrace    [0-9a-f]{16}\nsemantic [0-9a-f]{16}\nfoata    [0-9a-f]{16}\n\Z")
        self.assertEqual(said, self.prints("digest", "server.trace"))
        self.assertNotEqual(said, self.prints("digest", "lab.trace"))

    def test_LAB_11_trace_in_each_form_converts_to_the_other_without_loss(self):
        for file in ("server.trace", "lab.trace", "random-0.trace", "random-1.trace"):
            self.prints("export", "--format", "json", file, "-o", "there.json")
            self.prints("export", "--format", "binary", "there.json", "-o", "back.trace")
            self.assertEqual((self.root / "back.trace").read_bytes(), (self.root / file).read_bytes())
        self.prints("export", "--format", "json", "server.json", "-o", "again.json")
        self.assertEqual((self.root / "again.json").read_text(), (self.root / "server.json").read_text())

    def test_trace_json_is_json_to_another_reader(self):
        trace = json.loads(self.prints("export", "--format", "json", "server.json"))
        self.assertEqual((trace["format"], trace["version"], len(trace["events"])), ("calm-trace", 1, 106))
        self.assertEqual(trace["names"]["tasks"]["t4"]["name"], "handler </script><b>&")
        self.assertEqual(trace["digest"], self.prints("digest", "server.trace").split()[1])

    def perfetto(self, *words):
        """The events of an export, after the checks that hold for each alone."""
        events = json.loads(self.prints("export", "--format", "perfetto", *words))["traceEvents"]
        for event in events:
            needed = {"ph", "ts", "pid", "tid", "name"} | PERFETTO_FIELDS[event["ph"]]
            self.assertLessEqual(needed, set(event), event)
        self.assertEqual([event["ts"] for event in events], sorted(event["ts"] for event in events))
        return events

    def check_slices(self, events):
        """On every thread what begins ends, one inside the other; asynchronous ones by their id."""
        open_slices, open_ids = defaultdict(list), {}
        for event in events:
            thread, phase = (event["pid"], event["tid"]), event["ph"]
            if phase == "B":
                open_slices[thread].append(event["name"])
            elif phase == "E":
                self.assertEqual(open_slices[thread].pop(), event["name"])
            elif phase == "b":
                self.assertNotIn((event["cat"], event["id"]), open_ids)
                open_ids[event["cat"], event["id"]] = thread
            elif phase == "e":
                self.assertEqual(open_ids.pop((event["cat"], event["id"])), thread)
        self.assertEqual((sum(map(len, open_slices.values())), open_ids), (0, {}))

    def check_flows(self, events):
        """Every flow starts once and ends once, not before it started, each time inside a slice of its thread."""
        slices, ends = defaultdict(list), defaultdict(list)
        for event in events:
            if event["ph"] == "B":
                slices[event["pid"], event["tid"]].append([event["ts"], None])
            elif event["ph"] == "E":
                next(each for each in reversed(slices[event["pid"], event["tid"]]) if each[1] is None)[1] = event["ts"]
        for event in events:
            if event["ph"] in "sf":
                ends[event["id"]].append((event["ph"], event["ts"]))
                self.assertTrue(any(start <= event["ts"] <= end for start, end in slices[event["pid"], event["tid"]]), event)
        for flow in ends.values():
            self.assertEqual([phase for phase, _ in flow], ["s", "f"])
        return len(ends)

    def test_LAB_9_perfetto_has_processes_threads_slices_and_flows_that_fit(self):
        for words in (["server.json"], ["server.json", "--axis", "time"], ["lab.trace"], ["lab.trace", "--axis", "time"],
                      ["random-0.trace"], ["random-3.trace"], ["random-5.trace"]):
            with self.subTest(words):
                events = self.perfetto(*words)
                self.check_slices(events)
                named = {(event["name"], event["pid"], event["tid"]) for event in events if event["ph"] == "M"}
                processes = {pid for name, pid, _ in named if name == "process_name"}
                threads = {(pid, tid) for name, pid, tid in named if name == "thread_name"}
                for event in events:
                    self.assertIn(event["pid"], processes)
                    if event["tid"]:
                        self.assertIn((event["pid"], event["tid"]), threads)
                if words[0] != "random-0.trace":  # of that only the end was kept
                    self.check_flows(events)

    def test_LAB_9_perfetto_shows_what_happened(self):
        events = self.perfetto("server.json")
        names = {event["args"]["name"]: event["pid"] for event in events if event["name"] == "process_name"}
        self.assertEqual(set(names), {"runtime", "region r1 root", "region r2 server", "region r3 request"})
        counts = Counter((event["ph"], event["name"]) for event in events)
        self.assertEqual(counts["B", "poll"], counts["i", "poll"])
        self.assertEqual((counts["b", "o1 ack"], counts["b", "o2 lease"]), (1, 1))
        self.assertEqual(sum(event["ph"] == "i" for event in events), 106)
        self.assertGreater(self.check_flows(events), 10)
        states = [event["name"] for event in events if event["ph"] == "B" and event["pid"] == names["region r3 request"]
                  and event["tid"] == 0]
        self.assertEqual(states, ["Open", "Closing", "Draining", "Finalizing", "Closed"])
        timed = [event for event in self.perfetto("server.json", "--axis", "time") if event["ph"] == "i"]
        self.assertEqual([event["ts"] for event in timed if event["args"]["sequence"] in (1, 11, 15)], [0, 2000, 5000])

    def test_trace_of_an_example_has_the_names_of_its_tasks(self):
        for file in ("hello.json", "hello.trace"):
            subprocess.run([os.environ["CALM_TEST_TOOL"], "run", "hello", "--lab", "--trace", file], cwd=self.root, check=True,
                           capture_output=True)
        self.assertRegex(self.prints("show", "hello.json"), r'\n  t1 is "[^"\n]+", awaits at "examples/hello.cpp:\d+')
        self.assertEqual(self.prints("digest", "hello.json"), self.prints("digest", "hello.trace"))
        self.assertIn("t1 ", self.prints("export", "--format", "html", "hello.json"))

    def test_trace_help_tells_what_there_is(self):
        self.assertRegex(self.prints("--help"), r"(?s)show .*digest .*check .*export .*tla-model ")
        said = self.prints("export", "--help")
        for word in ("html", "perfetto", "json", "tla", "binary", "FILE", "--axis"):
            self.assertIn(word, said)

    def test_trace_names_what_is_wrong_with_a_call(self):
        self.refuses(says="trace needs a command: show, digest, check, diff, export or tla-model")
        self.refuses("nonsense", says="nonsense")
        self.refuses("show", says="FILE")
        self.refuses("export", "server.json", says="--format")
        self.refuses("export", "--format", "xml", "server.json", says=["--format", "xml", "perfetto"])
        self.refuses("export", "--format", "perfetto", "--axis", "wall", "server.json", says="wall")

    def test_trace_names_what_is_wrong_with_a_file(self):
        self.refuses("show", "gone.trace", says=["gone.trace cannot be read", "No such file"])
        self.refuses("show", ".", says=". cannot be read: it is a folder")
        (self.root / "bad").write_bytes(b"")
        self.refuses("digest", "bad", says="bad: this is no trace of calm")
        (self.root / "bad").write_bytes((self.root / "server.trace").read_bytes()[:-9])
        self.refuses("show", "bad", says="bad: trace field count at byte 16")
        (self.root / "bad").write_text((self.root / "server.json").read_text().replace('"kind": "timer"', '"kind": "tiemr"'))
        self.refuses("export", "--format", "html", "bad",
                     says='bad: trace line 21, column 30, field "events[14].kind": "tiemr" is no kind of event')
        (self.root / "bad").write_text((self.root / "server.json").read_text().replace('"task": "t5"', '"task": "t6"', 1))
        self.refuses("show", "bad", says="they were changed")

    def test_trace_says_when_it_cannot_write(self):
        self.refuses("export", "--format", "json", "server.json", "-o", "no/such/folder", says="no/such/folder cannot be written")
        self.refuses("export", "--format", "json", "server.json", "-o", "/dev/full", says="/dev/full cannot be written")


if __name__ == "__main__":
    unittest.main()
