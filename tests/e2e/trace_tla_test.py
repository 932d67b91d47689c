#!/usr/bin/env python3
"""trace_tla_test.py — the TLA+ modules are well formed, the model keeps its promises, and traces are runs of it.

Usage: tests/e2e/trace_tla_test.py [TraceTlaTest.test_...]; every test is a ctest test of its own, e2e.LAB_9_tla_...
Environment: CALM_TEST_TOOL, the tool; CALM_TEST_TRACES, the program that writes trace files.
"""
import json
import os
import re
import subprocess
import unittest

import tla
from traces import TraceTest


def frozen(state):
    return tuple((name, tuple(sorted(value.items()))) for name, value in sorted(state.items()))


class TraceTlaTest(TraceTest):
    def model(self):
        return tla.Module(self.prints("tla-model"))

    def walk(self, file, look_every=1):
        """Takes all steps. Gives: how many there were, and the event that was not lawful, if there was one."""
        machine = tla.Machine(tla.Module(self.prints("export", "--format", "tla", file)), {}, {"CalmKernel": self.model()})
        states = machine.first_states()
        self.assertEqual(len(states), 1)
        state, events = states[0], machine.holds("Events", states[0])
        while state["at"] <= len(events):
            after = list(machine.steps(state))
            if not after:
                return state["at"] - 1, events[state["at"] - 1]
            self.assertEqual(len(after), 1, "a trace is one run")
            state = after[0]
            if state["at"] % look_every == 0 or state["at"] > len(events):
                self.assertTrue(machine.holds("TypeOK", state) and machine.holds("ClosedIsQuiet", state), state)
        self.assertEqual(list(machine.steps(state)), [state])  # it stays where it is
        return len(events), None

    def changed(self, change):
        """The trace of the server after a change of its events, without a digest that would find it."""
        trace = json.loads((self.root / "server.json").read_text())
        del trace["digest"]
        change(trace["events"])
        for event in trace["events"]:
            event.pop("cause", None)
        (self.root / "changed.json").write_text(json.dumps(trace))
        return "changed.json"

    def finds(self, change, act):
        _, unlawful = self.walk(self.changed(change))
        self.assertIsNotNone(unlawful, "the change was not found")
        self.assertEqual(unlawful["act"], act)

    def test_LAB_9_tla_model_has_the_moves_that_the_kernel_obeys(self):
        tour = subprocess.run([os.environ["CALM_TEST_TOOL"], "tour"], check=True, capture_output=True, text=True).stdout
        machine = tla.Machine(self.model(), {"Regions": frozenset(), "Tasks": frozenset(), "Obligations": frozenset(), "Root": ""})
        for title, name in (("region", "RegionMoves"), ("task", "TaskMoves"), ("obligation", "ObligationMoves")):
            table = tour.split(f"\n  {title}\n")[1].split(" moves are legal")[0]
            shown = {(start, to) for start, ends in re.findall(r"^ +(\w+) ->(.*)$", table, re.M) for to in ends.split()}
            self.assertEqual(machine.holds(name, {}), shown)

    def test_LAB_9_tla_model_keeps_its_promises_in_every_state_of_a_small_kernel(self):
        sets = {"Regions": frozenset({"r0", "r1"}), "Tasks": frozenset({"t0"}), "Obligations": frozenset({"o0"}), "Root": "r0"}
        machine = tla.Machine(self.model(), sets)
        line = machine.first_states()
        seen = {frozen(state) for state in line}
        while line:
            state = line.pop()
            for promise in ("TypeOK", "ClosedIsQuiet", "LiveIsOwned"):
                self.assertTrue(machine.holds(promise, state), (promise, state))
            for after in machine.steps(state):
                if frozen(after) not in seen:
                    seen.add(frozen(after))
                    line.append(after)
        states = [dict(state) for state in seen]
        for name in ("regionState", "taskState", "obligationState"):
            reached = {value for state in states for _, value in state[name]}
            self.assertEqual(reached, machine.holds(name[0].upper() + name[1:] + "s", {}) | {"absent"})

    def test_LAB_9_tla_of_a_server_that_is_shut_down_is_a_run_of_the_kernel(self):
        self.assertEqual(self.walk("server.json"), (106, None))
        self.assertEqual(self.walk("server.trace"), (106, None))

    def test_LAB_9_tla_of_a_lab_run_is_a_run_of_the_kernel(self):
        steps, unlawful = self.walk("lab.trace", look_every=1000)
        self.assertIsNone(unlawful)
        self.assertGreater(steps, 10_000)

    def test_LAB_9_tla_of_random_operations_is_a_run_of_the_kernel(self):
        files = sorted(self.root.glob("random-*.trace"))
        self.assertEqual(len(files), 24)
        for file in files:
            with self.subTest(file.name):
                self.assertIsNone(self.walk(file.name, look_every=50)[1])

    def test_LAB_9_tla_stops_at_an_event_that_breaks_a_law(self):
        place = {(event["kind"], event.get("task"), event.get("region")): at for at, event in
                 enumerate(json.loads((self.root / "server.json").read_text())["events"])}
        handler_ends = place["complete", "t4", "r3"]
        self.finds(lambda events: events.pop(handler_ends), "cancel done")                        # it has not ended
        self.finds(lambda events: events.__delitem__(slice(handler_ends, handler_ends + 2)), "region move")  # I2
        self.finds(lambda events: events[handler_ends + 1].update(kind="poll"), "poll")           # it has ended
        self.finds(lambda events: events[place["cancel ack", "t2", "r2"]].update(task="t1"), "cancel ack")  # TSK-1
        self.finds(lambda events: events[9].update(kind="complete", task="t5"), "complete")       # TSK-2: Ok, and never polled
        self.finds(lambda events: events.pop(6), "spawn")                                         # into a region that is not there
        self.finds(lambda events: events[16].update(argument=1), "resolve")                       # Reserved to Reserved

        def skip_a_state(events):
            move = next(event for event in events if event["kind"] == "region move")
            move["argument"] = 1 | 16 << 8                                                        # Open to Closed
        self.finds(skip_a_state, "region move")

        def forget_a_promise(events):
            events[:] = [event for event in events if event.get("resource") != "o2" or event["kind"] != "resolve"]
        self.finds(forget_a_promise, "region move")

    def test_tla_checker_refuses_what_is_no_module(self):
        good = self.prints("tla-model")
        for old, new in (("====", "====\nx"), ("VARIABLES", "VARIABLE"), ("/\\ to =", "\\/ to ="), ("[r \\in Regions |->", "[r Regions |->"),
                         ("Root          \\*", "Root, \\*"), ("Settled(r) ==", "Settled(r) =")):
            with self.subTest(old):
                self.assertIn(old, good)
                with self.assertRaises(tla.Malformed):
                    tla.Module(good.replace(old, new, 1))


if __name__ == "__main__":
    unittest.main()
