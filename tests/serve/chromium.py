"""A real page in headless Chromium, driven over its DevTools protocol."""

import asyncio
import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiohttp

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
KEYS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13, " ": 32}
PATIENCE = 60.0
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--remote-debugging-port=0",
)


def find_chromium():
    """The program, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Tab:
    """One page, in which things are pressed and read."""

    def __init__(self, socket):
        self.socket = socket
        self.number = 0
        self.complaints = []  # of the page's own scripts

    async def call(self, method, **parameters):
        self.number += 1
        await self.socket.send_json({"id": self.number, "method": method, "params": parameters})
        while True:
            answer = json.loads((await self.socket.receive(PATIENCE)).data)
            if answer.get("method") in {"Runtime.exceptionThrown", "Log.entryAdded"}:
                self.complaints.append(answer["params"])
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    async def run(self, script):
        """Evaluate JavaScript, and wait for what it promises."""
        result = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    async def until(self, script):
        """Wait until JavaScript is true, and return what it is."""
        end = asyncio.get_running_loop().time() + PATIENCE
        while not (value := await self.run(script)):
            assert asyncio.get_running_loop().time() < end, f"never came true: {script}"
            await asyncio.sleep(0.02)
        return value

    async def open(self, address):
        await self.call("Page.navigate", url=address)
        await self.until("document.readyState === 'complete' && document.querySelector('#agent0 option') !== null")

    async def press(self, key):
        """Press a key as a keyboard does."""
        code = KEYS.get(key, ord(key[0].upper()))
        text = {"text": {"Enter": "\r"}.get(key, key)} if len(key) == 1 or key == "Enter" else {}
        common = {"key": key, "windowsVirtualKeyCode": code, **text}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **common)
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    async def click(self, selector):
        """Click the middle of an element with the mouse."""
        where = (
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center', behavior: 'instant'}); const b = e.getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        x, y = await self.run(where)
        for kind in ("mousePressed", "mouseReleased"):
            await self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def select(self, name, value):
        """Choose an option as a person does."""
        await self.run(
            f"(() => {{ const e = document.getElementById({json.dumps(name)}); e.value = {json.dumps(value)};"
            " e.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    async def text(self, selector):
        return await self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    async def resize(self, width, height):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        await self.call("Emulation.setDeviceMetricsOverride", **size)

    async def picture(self, path, width=1280, height=860, dark=False, whole=False):
        """Save what is seen."""
        await self.resize(width, height)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        await self.call("Emulation.setEmulatedMedia", features=features)
        await asyncio.sleep(0.4)
        shot = await self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(shot["data"]))


@asynccontextmanager
async def open_tab(port):
    """Open a tab of the browser whose DevTools listen on a port, and close it."""
    at = f"http://127.0.0.1:{port}/json"
    async with aiohttp.ClientSession() as session:
        async with session.put(f"{at}/new?about:blank") as answer:
            target = json.loads(await answer.text())
        async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=2**26) as socket:
            tab = Tab(socket)
            for part in ("Page", "Runtime", "Log"):
                await tab.call(f"{part}.enable")
            yield tab
        await session.get(f"{at}/close/{target['id']}")


@contextmanager
def chromium():
    """Start a browser with a profile of its own, and end it with all that it started: the port of its DevTools."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [find_chromium(), *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            told = Path(profile) / "DevToolsActivePort"
            end = time.monotonic() + PATIENCE
            while not (told.exists() and told.read_text().count("\n")):
                assert time.monotonic() < end, "Chromium doesn't start"
                time.sleep(0.05)
            yield int(told.read_text().split()[0])
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
