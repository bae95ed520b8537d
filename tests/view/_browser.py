"""A headless Chromium, driven by the DevTools protocol over its pipe."""

import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time


class Page:
    """One page. What the page writes to its console as an error, and what it throws, is in |errors|; what it asks the network for
    in |requests|."""

    def __init__(self, width=1280, height=800):
        self.folder = tempfile.mkdtemp(prefix="indim-view-")
        to_read, self.to_write = os.pipe()
        self.to_answer, from_write = os.pipe()
        # Chromium reads commands from 3 and answers on 4.
        command = [
            "bash", "-c", f'exec "$@" 3<&{to_read} 4>&{from_write}', "chromium",
            shutil.which("chromium") or "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={self.folder}", "--remote-debugging-pipe", "about:blank",
        ]
        self.process = subprocess.Popen(
            command, pass_fds=(to_read, from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.number = 0
        self.errors, self.requests = [], []
        self.events = []
        self.answers = queue.Queue()
        self.session = None
        threading.Thread(target=self._read, daemon=True).start()
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.size(width, height)

    def _read(self):
        rest = b""
        while True:
            try:
                piece = os.read(self.to_answer, 1 << 16)
            except OSError:
                return
            if not piece:
                self.answers.put(None)
                return
            *messages, rest = (rest + piece).split(b"\0")
            for message in messages:
                value = json.loads(message)
                if "id" in value:
                    self.answers.put(value)
                else:
                    self._take(value["method"], value.get("params", {}))

    def _take(self, method, params):
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.errors.append("dialog: " + params["message"])
        self.events.append(method)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.answers.get(timeout=60)
            if answer is None:
                raise RuntimeError("chromium has ended")
            if answer["id"] == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, url):
        """Opens a page; returns seconds until it has drawn itself."""
        self._navigate("about:blank")  # or another place on the same page would not load it
        begin = time.monotonic()
        self._navigate(url)
        self.settle()
        return time.monotonic() - begin

    def _navigate(self, url):
        self.events.clear()
        begin = time.monotonic()
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            if time.monotonic() - begin > 60:
                raise RuntimeError(f"{url} does not load")
            time.sleep(0.005)

    def settle(self):
        """Waits until two frames are drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def go(self, hash):
        self.run(f"location.hash = {json.dumps(hash)}")
        self.settle()
        self.settle()

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, is_dark):
        value = "dark" if is_dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])
        self.settle()

    def key(self, key, text=None):
        for kind in ("keyDown", "keyUp"):
            event = {"type": kind, "key": key}
            if kind == "keyDown" and text is not None:
                event["text"] = text
            self.call("Input.dispatchKeyEvent", **event)
        self.settle()

    def type(self, text):
        for letter in text:
            self.key(letter, letter)

    def mouse(self, x, y, click=True):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        if click:
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def click(self, selector):
        """Clicks the middle of an element, as a person would."""
        x, y = self.run(
            f"(() => {{ const n = document.querySelector({json.dumps(selector)}); n.scrollIntoView({{block: 'nearest'}});"
            "const b = n.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        self.mouse(x, y)
        self.settle()

    def shoot(self, path):
        import base64
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError, queue.Empty):
            pass
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
