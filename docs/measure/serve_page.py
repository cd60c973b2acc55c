"""The pictures of docs/serve.rst: the page while it learns handwritten digits, in light, and in the dark on a phone."""

import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from onmargin import Client

FOLDER = Path(__file__).parents[1] / "_static"
CODE = "from onmargin.apps.cli import main; main()"
VIEWS = {
    "serve_light": {"color_scheme": "light", "viewport": {"width": 1080, "height": 1010}},
    "serve_dark": {"color_scheme": "dark", "viewport": {"width": 400, "height": 1010}},
}


def digits():
    X, y = load_digits(return_X_y=True)
    for row, label in zip(normalize(X).round(3), y, strict=True):
        yield {f"row {k // 8} column {k % 8}": value for k, value in enumerate(row.tolist()) if value}, f"{label}"


def post(address, pairs, stop):
    """Learn and ask in between, at the pace of a small office."""
    with Client(address) as client:
        for x, y in pairs:
            if stop.is_set():
                return
            client.predict_many("digits", [x] * random.randrange(1, 4))
            client.learn("digits", x, y)
            time.sleep(0.02)


def main():
    pairs = list(digits())
    stop = threading.Event()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        service = subprocess.Popen(
            [sys.executable, "-c", CODE, "serve", "--data", folder, "--port", "0"], stderr=subprocess.PIPE, text=True
        )
        address = re.search(r"http://\S+", service.stderr.readline())[0].rstrip("/")
        with Client(address) as client:
            client.create("digits", C=0.3)
            client.learn_many("digits", *zip(*pairs[:900], strict=True))
        poster = threading.Thread(target=post, args=(address, pairs[900:], stop))
        poster.start()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, settings in VIEWS.items():
            page = browser.new_context(**settings).new_page()
            page.goto(address)
            page.locator("#error polyline").nth(1).wait_for(state="attached", timeout=60_000)
            page.fill("#x", '{"row 1 column 3": 0.2, "row 4 column 3": 0.3, "row 6 column 4": 0.25}')
            page.click("#try button")
            page.wait_for_timeout(12_000)
            picture = Image.open(BytesIO(page.screenshot(full_page=True)))
            picture.quantize(48).save(FOLDER / f"{name}.png", optimize=True)
        browser.close()
        stop.set()
        poster.join()
        service.send_signal(signal.SIGTERM)
        service.wait()


if __name__ == "__main__":
    main()
