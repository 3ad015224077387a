#!/usr/bin/env python3
"""Takes the README's pictures of the live page: docs/pictures/page-1600.png and page-360.png.

    make screenshots
"""

import subprocess
import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "Tests" / "Page"))
from harness import CHROMIUM, Service, wait  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
SIZES = {"page-1600": (1600, 1000, 1, "light"), "page-360": (360, 740, 2, "dark")}
PLACES = [
    ("Central station", 37.3327, -122.0329, 120),
    ("Town hall", 37.3373, -122.0545, 150),
    ("Harbour", 37.345, -122.07, 200),
]
# The pictures name the folder that the README uses.
SOURCE = """() => {
  const sheet = new CSSStyleSheet();
  const text = 'replaying, gpx:/srv/backgrounder/tracks/freeway-drive.gpx?rate=10';
  const shown = `#location-source::after { font-size: 13px; content: "${text}" }`;
  sheet.replaceSync(`#location-source { font-size: 0 } ${shown}`);
  document.adoptedStyleSheets = [sheet];
}"""


def prepare(service):
    """Gives every panel something to show."""
    service.run("track", "import", ROOT / "tracks/city-walk.gpx")
    for name, latitude, longitude, radius in PLACES:
        service.run("place", "add", name, "--at", f"{latitude},{longitude}", "--radius", radius)
    service.run("fetch", "add", "disk", "--exec", "df -h /", "--interval", "15m")
    service.run("fetch", "run", "disk")
    service.run("fetch", "add", "weather", "--exec", "echo 12 degrees, light wind", "--interval", "1h")
    service.run("fetch", "run", "weather")
    service.run("task", "begin", "upload", "--budget", "60s", "--", "sleep", "300")
    service.run("audio", "play")
    wait("a track", lambda: service.status["location"]["accepted"] > 60, within=60)


def reduce(picture):
    """Reduces a picture to 256 colours, which are enough for a page and take a third of the bytes."""
    small = picture.with_suffix(".small.png")
    palette = "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=dither=none"
    subprocess.run(["ffmpeg", "-y", "-loglevel", "error", "-i", picture, "-vf", palette, small], check=True)
    small.replace(picture)


def main():
    service = Service(f"gpx:{ROOT}/tracks/freeway-drive.gpx?rate=10", modes="[audio, location, fetch]")
    try:
        prepare(service)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            for name, (width, height, scale, scheme) in SIZES.items():
                tab = browser.new_page(
                    viewport={"width": width, "height": height}, device_scale_factor=scale, color_scheme=scheme
                )
                tab.goto(service.link())
                expect(tab.get_by_role("status", name="Connection")).to_have_text("Live")
                tab.locator("#map canvas").first.wait_for()
                tab.evaluate(SOURCE)
                tab.wait_for_timeout(2000)
                tab.get_by_role("button", name="Show the whole track").click()
                tab.wait_for_timeout(1000)
                tab.screenshot(path=PICTURES / f"{name}.png")
                reduce(PICTURES / f"{name}.png")
                tab.close()
            browser.close()
    finally:
        service.close()


if __name__ == "__main__":
    main()
