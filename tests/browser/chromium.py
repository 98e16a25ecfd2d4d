"""Headless Chromium, driven over its debugging pipe with the standard library alone: pages, keys, pointer, screenshots.

A test that imports this module exits 77 (skipped) where Chromium is not installed.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if not BROWSER:
    print("skipped: chromium is not installed")
    sys.exit(77)

PATIENCE_S = 120


class Page:
    """One page. `problems` collects errors and requests to anywhere but files."""

    def __init__(self, width=1400, height=900, dark=False, script=True):
        self.folder = tempfile.TemporaryDirectory()
        to_child, self.write_end = os.pipe()
        self.read_end, from_child = os.pipe()
        # The browser reads commands from descriptor 3 and answers on 4.
        relay = 'exec 3<&%d 4>&%d; exec "$0" "$@"' % (to_child, from_child)
        self.process = subprocess.Popen(
            ["bash", "-c", relay, BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", "--user-data-dir=" + self.folder.name, "about:blank"],
            pass_fds=(to_child, from_child), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.buffer, self.number, self.events, self.problems, self.session = b"", 0, [], [], None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.size(width, height)
        self.scheme(dark)
        if not script:
            self.call("Emulation.setScriptExecutionDisabled", value=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.write_end)
        self.process.terminate()
        self.process.wait(30)
        os.close(self.read_end)
        try:
            self.folder.cleanup()
        except OSError:
            pass  # a helper of the browser still writes there

    # --- the protocol ---

    def message(self):
        until = time.monotonic() + PATIENCE_S
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, until - time.monotonic()))
            block = os.read(self.read_end, 1 << 20) if ready else b""
            if not block:
                raise RuntimeError("the browser does not answer")
            self.buffer += block
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def note(self, event):
        kind, about = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.problems.append(about["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif kind == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.problems.append(about["entry"]["text"])
        elif kind == "Network.requestWillBeSent" and not about["request"]["url"].startswith(("file:", "data:", "about:")):
            self.problems.append("asked for " + about["request"]["url"])
        self.events.append(kind)

    def call(self, method, **params):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": params}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.write_end, json.dumps(asked).encode() + b"\0")
        while True:
            found = self.message()
            if found.get("id") != self.number:
                self.note(found)
                continue
            if "error" in found:
                raise RuntimeError("%s: %s" % (method, found["error"]))
            return found["result"]

    # --- what a test asks for ---

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        self.events = []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        until = time.monotonic() + PATIENCE_S
        while "Page.loadEventFired" not in self.events:
            if time.monotonic() > until:
                raise RuntimeError("the page does not load")
            self.note(self.message())

    def eval(self, expression):
        """The value of an expression, promises awaited."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError("%s: %s" % (expression, found["exceptionDetails"].get("exception", {}).get("description")))
        return found["result"].get("value")

    def settle(self):
        """Waits until what was asked for is painted."""
        self.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))))")

    def mouse(self, kind, x, y, button="none", shift=False, ctrl=False, clicks=1, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=clicks,
                  buttons=1 if button == "left" and kind != "mouseReleased" else 0, modifiers=8 * shift + 2 * ctrl, **more)

    def click(self, x, y, clicks=1):
        self.mouse("mouseMoved", x, y)
        for n in range(1, clicks + 1):
            self.mouse("mousePressed", x, y, "left", clicks=n)
            self.mouse("mouseReleased", x, y, "left", clicks=n)
        self.settle()

    def drag(self, x, y, to_x, to_y, shift=False):
        self.mouse("mouseMoved", x, y, shift=shift)
        self.mouse("mousePressed", x, y, "left", shift=shift)
        for share in (0.3, 0.6, 1):
            self.mouse("mouseMoved", x + (to_x - x) * share, y + (to_y - y) * share, "left", shift=shift)
        self.mouse("mouseReleased", to_x, to_y, "left", shift=shift)
        self.settle()

    def wheel(self, x, y, amount, ctrl=False):
        self.mouse("mouseWheel", x, y, ctrl=ctrl, deltaX=0, deltaY=amount)
        self.settle()

    def key(self, key, **more):
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def screenshot(self, path, whole=False):
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF")["data"])
