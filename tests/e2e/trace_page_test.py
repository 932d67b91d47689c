#!/usr/bin/env python3
"""trace_page_test.py — the HTML timeline in a real browser: it opens from disk, is clicked, and explains itself.

Usage: tests/e2e/trace_page_test.py [TracePageTest.test_...]; every test is a ctest test of its own, e2e.LAB_9_page_...
Environment: CALM_TEST_TOOL, the tool; CALM_TEST_TRACES, the program that writes trace files.
It needs chromium; ./dev test installs it.
"""
import json
import re
import unittest

import browser
from traces import TraceTest


class TracePageTest(TraceTest):
    def open(self, file="server.json", hash_part="", **options):
        """A browser with the page of a trace, drawn."""
        page = self.root / "page.html"
        self.prints("export", "--format", "html", file, "-o", "page.html")
        seen = browser.Browser(**options)
        self.addCleanup(seen.close)
        seen.open(page.as_uri() + hash_part)
        seen.until("window.calmTimeline && calmTimeline.place(1) && document.querySelector('#labels button[data-row]')")
        return seen

    def finish(self, page):
        self.assertEqual(page.complaints(), [])

    def events(self, file="server.json"):
        return json.loads(self.prints("export", "--format", "json", file))["events"]

    def details(self, page):
        return page.evaluate("document.getElementById('details').innerText")

    def click_event(self, page, sequence):
        place = page.evaluate(f"calmTimeline.place({sequence})")
        page.click(place["x"], place["y"])
        page.until(f"document.querySelector('#details h2').textContent.startsWith('#{sequence} ')")

    def label_place(self, page, title):
        return page.evaluate(f"""(() => {{ const box = [...document.querySelectorAll('#labels button')].find(label =>
          label.textContent.includes('{title}')).getBoundingClientRect(); return {{x: box.left + 60, y: box.top + 10}}; }})()""")

    def colour_at(self, page, x, y):
        return page.evaluate(f"""(() => {{ const canvas = document.getElementById('canvas'), box = canvas.getBoundingClientRect();
          return [...canvas.getContext('2d').getImageData({x} - box.left, {y} - box.top, 1, 1).data].slice(0, 3); }})()""")

    def test_LAB_9_page_explains_the_event_that_is_clicked(self):
        page = self.open()
        self.assertIn("Nothing is selected", self.details(page))
        self.click_event(page, 25)
        said = self.details(page)
        for part in ("#25 cancel request", "The cancellation of t2 listener is requested: ParentCancelled severity 5.",
                     "a clean-up budget counts", "t2 listener, in r2 server", "server.cpp:31 in serve", "9 ms", "CAN-4"):
            self.assertIn(part, said)
        self.finish(page)

    def test_LAB_9_page_leads_from_an_event_to_its_cause_by_a_link(self):
        page = self.open()
        self.click_event(page, 6)
        self.assertIn("t2 listener is polled.", self.details(page))
        place = page.evaluate("""(() => { const box = document.querySelector('#details a[href="#e3"]').getBoundingClientRect();
          return {x: box.left + box.width / 2, y: box.top + box.height / 2}; })()""")
        page.click(place["x"], place["y"])
        page.until("document.querySelector('#details h2').textContent === '#3 spawn'")
        said = self.details(page)
        self.assertIn("r2 server is opened below r1 root by t1 main.", said)
        self.assertIn("#6 poll", said)  # and back: what it leads to
        self.finish(page)

    def test_LAB_9_page_explains_every_kind_of_event(self):
        page = self.open()
        kinds = {}
        for event in self.events():
            kinds.setdefault(event["kind"], event["sequence"])
        self.assertEqual(len(kinds), 14)  # all that a kernel records, and what a host adds
        for kind, sequence in kinds.items():
            page.evaluate(f"location.hash = '#e{sequence}'")
            page.until(f"document.querySelector('#details h2').textContent === '#{sequence} {kind}'")
            self.assertRegex(self.details(page), r"Laws\s+[A-Z]+-?\d")
        self.finish(page)

    def test_LAB_9_page_shows_tasks_under_their_regions_and_folds_them(self):
        page = self.open()
        labels = "[...document.querySelectorAll('#labels button[data-row]')].map(label => label.textContent)"
        self.assertEqual(page.evaluate(labels), ["runtime", "▾ r1 root", "t1 main", "▾ r2 server", "t2 listener", "t3",
                                                 "▾ r3 request", "t4 handler </script><b>&", "t5"])
        page.click(**self.label_place(page, "r2 server"))
        page.until("document.querySelectorAll('#labels button[data-row]').length === 4")
        self.assertEqual(page.evaluate(labels), ["runtime", "▾ r1 root", "t1 main", "▸ r2 server (5)"])
        page.evaluate("location.hash = '#e30'")  # an event of t5: what hides it is unfolded
        page.until("document.querySelectorAll('#labels button[data-row]').length === 9")
        self.finish(page)

    def test_LAB_9_page_folds_what_is_drawn_anew_under_the_mouse(self):
        page = self.open()
        place = self.label_place(page, "r2 server")
        page.mouse("mousePressed", **place)
        page.evaluate("document.querySelector('#labels button[data-row]').id = 'old'")
        page.evaluate("location.hash = '#e30'")
        page.until("!document.getElementById('old')")  # every label has been replaced
        page.mouse("mouseReleased", **place)
        page.until("document.querySelectorAll('#labels button[data-row]').length === 4")
        self.finish(page)

    def test_LAB_9_page_shows_only_what_the_filter_names(self):
        page = self.open()
        page.press("/")
        page.until("document.activeElement.id === 'filter'")
        page.call("Input.insertText", text="handler")
        page.until("document.getElementById('found').textContent === '1 of 9 rows'")
        page.until("document.querySelectorAll('#labels button[data-row]').length === 4")  # with the regions above it
        self.finish(page)

    def test_LAB_9_page_goes_from_event_to_event_by_keys(self):
        page = self.open(hash_part="#e25")
        head = "document.querySelector('#details h2').textContent"
        page.until(f"{head} === '#25 cancel request'")
        for key, then in (("ArrowRight", "#35 poll"), ("ArrowRight", "#36 cancel ack"), ("ArrowLeft", "#35 poll"),
                          ("c", "#30 cancel request"), (".", "#31 poll"), (",", "#30 cancel request"),
                          ("ArrowUp", "#39 poll"), ("Escape", "Nothing is selected")):
            page.press(key)
            page.until(f"{head} === '{then}'")
        self.finish(page)

    def test_LAB_9_page_has_an_axis_by_order_and_one_by_time(self):
        page = self.open()
        x = {sequence: page.evaluate(f"calmTimeline.place({sequence}).x") for sequence in (10, 11, 12)}
        self.assertAlmostEqual(x[11] - x[10], x[12] - x[11], delta=1)
        page.press("t")
        page.until("calmTimeline.view.axis === 'time'")
        x = {sequence: page.evaluate(f"calmTimeline.place({sequence}).x") for sequence in (10, 11, 12)}
        self.assertGreater(x[11] - x[10], 5 * (x[12] - x[11]))  # two milliseconds have passed
        self.click_event(page, 12)
        self.assertIn("2 ms", self.details(page))
        self.finish(page)

    def test_LAB_9_page_zooms_at_the_mouse_and_moves_by_dragging(self):
        page = self.open()
        before = page.evaluate("calmTimeline.place(50)")
        page.call("Input.dispatchMouseEvent", type="mouseWheel", x=before["x"], y=before["y"], deltaX=0, deltaY=-600, modifiers=2)
        page.until("calmTimeline.place(51).x - calmTimeline.place(50).x > 15")
        zoomed = page.evaluate("calmTimeline.place(50)")
        self.assertAlmostEqual(zoomed["x"], before["x"], delta=12)
        page.call("Input.dispatchMouseEvent", type="mousePressed", x=700, y=600, button="left", buttons=1, clickCount=1)
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=640, y=600, button="left", buttons=1)
        page.call("Input.dispatchMouseEvent", type="mouseReleased", x=640, y=600, button="left", clickCount=1)
        page.until(f"Math.abs(calmTimeline.place(50).x - {zoomed['x'] - 60}) < 2")
        self.finish(page)

    def test_LAB_9_page_draws_in_light_and_in_dark(self):
        brightness = {}
        for dark in (False, True):
            page = self.open(dark=dark)
            poll = page.evaluate("calmTimeline.place(2)")
            page.until("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
            brightness[dark] = sum(self.colour_at(page, poll["x"] + 200, 700))
            paper, box = self.colour_at(page, poll["x"] + 200, 700), self.colour_at(page, poll["x"] + 6, poll["y"])
            self.assertGreater(sum(abs(a - b) for a, b in zip(paper, box)), 120, (paper, box))  # the poll is drawn
            self.finish(page)
        self.assertGreater(brightness[False], 700)
        self.assertLess(brightness[True], 120)

    def test_LAB_9_page_is_usable_with_ten_thousand_events(self):
        page = self.open("lab.trace")
        self.assertGreater(page.evaluate("calmTimeline.place(10000).x"), 0)
        drawn = page.evaluate("""new Promise(done => { const times = []; const draw = now => { times.push(now);
          if (times.length === 5) done(times.length); else { document.getElementById('zoom-in').click(); requestAnimationFrame(draw); } };
          requestAnimationFrame(draw); })""")
        self.assertEqual(drawn, 5)
        self.assertLess(page.evaluate("document.querySelectorAll('*').length"), 400)  # rows out of sight cost nothing
        page.evaluate("location.hash = '#e9000'")
        page.until("document.querySelector('#details h2').textContent.startsWith('#9000 ')")
        page.press("Escape")
        page.until("document.querySelector('#details h2').textContent === 'Nothing is selected'")
        self.click_event(page, 9000)
        self.finish(page)

    def test_LAB_9_page_cannot_be_broken_by_names(self):
        self.prints("export", "--format", "html", "server.json", "-o", "page.html")
        text = (self.root / "page.html").read_text()
        self.assertEqual(len(re.findall(r"</script", text, re.I)), 2)
        self.assertNotIn("handler </", text)
        self.assertEqual(re.findall(r"https?://|(?:src|href)=\"(?!#)[^\"]*\"", text), [])  # nothing is loaded


if __name__ == "__main__":
    unittest.main()
