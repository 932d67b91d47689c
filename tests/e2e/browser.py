"""browser.py — a headless chromium driven through its DevTools protocol, with Python's standard library alone.

The browser is told to use a pipe (file descriptors 3 and 4, messages end with a zero byte), so there is no port to choose
and nothing to poll for. Every wait is for a message of the browser; DEADLINE_SECONDS only bounds a browser that hangs.
"""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

DEADLINE_SECONDS = 240
PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")


class BrowserError(Exception):
    """The browser refused something, or did not answer in time."""


class Browser:
    """A page of a browser. Use it in a with statement."""

    def __init__(self, width=1280, height=800, dark=False):
        if not PROGRAM:
            raise BrowserError("there is no chromium here; ./dev test installs it")
        self.deadline = time.monotonic() + DEADLINE_SECONDS
        self.profile = tempfile.TemporaryDirectory(prefix="calm_browser_", ignore_cleanup_errors=True)
        commands, self.out = os.pipe()
        self.answers, replies = os.pipe()
        # The shell puts the pipes where the browser looks for them and is replaced by it; sh knows no descriptors above 9.
        words = [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-extensions",
                 "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={self.profile.name}",
                 f"--window-size={width},{height}", "--remote-debugging-pipe", "about:blank"]
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(["bash", "-c", f'exec "$0" "$@" 3<&{commands} 4>&{replies}', *words],
                                        pass_fds=(commands, replies), stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log, env={**os.environ, "HOME": self.profile.name})
        os.close(commands)
        os.close(replies)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network"):
                self.call(f"{domain}.enable")
            self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
            self.call("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the browser; a second call does nothing."""
        if self.process.returncode is not None:
            return
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.answers)
        self.log.close()
        self.profile.cleanup()

    # --- the protocol ---

    def receive(self):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, self.deadline - time.monotonic()))
            more = os.read(self.answers, 1 << 16) if ready else b""
            if not more:
                self.log.seek(0)
                said = self.log.read().decode(errors="replace")[-2000:]
                raise BrowserError(f"the browser {'ended' if ready else 'did not answer in time'}; it said:\n{said}")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        """Sends a command and waits for its answer; events that come before it are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive())

    # --- what a user does ---

    def open(self, url):
        self.events = [event for event in self.events if event.get("method") != "Page.loadEventFired"]
        answer = self.call("Page.navigate", url=url)
        if answer.get("errorText"):
            raise BrowserError(f"{url}: {answer['errorText']}")
        self.wait_for("Page.loadEventFired")

    def evaluate(self, expression):
        """The value of an expression; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, condition):
        """Waits in the page, frame by frame, until the condition has a true value. Gives: the value."""
        return self.evaluate(f"""new Promise(done => {{
          const look = () => {{ const value = ({condition}); if (value) done(value); else requestAnimationFrame(look); }};
          look(); }})""")

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.mouse(kind, x, y)

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left",
                  buttons=1 if kind == "mousePressed" else 0, clickCount=0 if kind == "mouseMoved" else 1)

    def press(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def complaints(self):
        """What went wrong in the page so far: exceptions, and requests other than for the file itself."""
        found = [event["params"]["exceptionDetails"] for event in self.events
                 if event.get("method") == "Runtime.exceptionThrown"]
        return found + [event["params"]["request"]["url"] for event in self.events
                        if event.get("method") == "Network.requestWillBeSent"
                        and not event["params"]["request"]["url"].startswith("file:")]
