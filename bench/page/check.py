#!/usr/bin/env python3
"""Opens a page of selfplay report in headless Chromium, on a phone and on a
desk, by day and by night, and fails if something reaches over the edge, runs the
wrong way, or is loaded.

check.py PAGE.html [FOLDER]: screenshots go into FOLDER. CHROMIUM names the
program, else chromium is taken.
"""
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SIZES = [(360, 740), (390, 844), (1280, 900)]

# Runs in the page, in which the policy is lifted for it; every folded part is
# opened. What it finds goes to the frame around, since a window of Chromium
# cannot be as narrow as a phone.
PROBE = """<script>
addEventListener("load", () => {
  document.querySelectorAll("details").forEach(d => d.open = true);
  const found = [], wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) found.push("the page is " + wide + " wide");
  const scrolls = e => { for (; e; e = e.parentElement) if (getComputedStyle(e).overflowX == "auto" || e.tagName == "svg") return true; };
  document.querySelectorAll("body *").forEach(e => {
    const r = e.getBoundingClientRect();
    if ((r.right > innerWidth + 1 || r.left < -1) && !scrolls(e)) found.push(e.tagName + "." + e.className + " reaches from " + r.left + " to " + r.right);
  });
  document.querySelectorAll("svg text").forEach(e => {
    const r = e.getBoundingClientRect(), s = e.ownerSVGElement.getBoundingClientRect();
    if (r.right > s.right + 0.5 || r.left < s.left - 0.5) found.push("cut off: " + e.textContent + " in " + e.ownerSVGElement.getAttribute("aria-label"));
  });
  let texts = 0, rtl = 0;
  document.querySelectorAll(".text,.board").forEach(e => {
    const s = getComputedStyle(e), want = e.className == "board" ? "ltr" : e.dir;
    texts++; rtl += s.direction == "rtl";
    if (s.direction != want || s.unicodeBidi != "isolate") found.push("direction " + s.direction + ", " + s.unicodeBidi + " of " + e.outerHTML.slice(0, 80));
  });
  const loads = performance.getEntriesByType("resource").map(r => r.name);
  if (loads.length) found.push("loads " + loads);
  parent.postMessage({found, texts, rtl, width: innerWidth}, "*");
});
</script>"""


def chromium(folder, url, *flags):
    command = [os.environ.get("CHROMIUM", "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
               "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
               "--hide-scrollbars", f"--user-data-dir={folder}/profile", "--virtual-time-budget=20000", *flags, url]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=True).stdout


def frame(folder, page, width, height, part=""):
    """A page that shows another in a frame of the size of a phone or more."""
    path = folder / "frame.html"
    path.write_text(f"""<!DOCTYPE html><body style="margin:0"><iframe style="border:0;width:{width}px;height:{height}px" src="{page.name}{part}"></iframe>
<pre id="out"></pre><script>addEventListener("message", e => document.getElementById("out").textContent = JSON.stringify(e.data))</script>""")
    return path.as_uri()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    out = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        page = folder / "page.html"
        page.write_text(re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", source).replace("</body>", PROBE + "</body>"), encoding="utf-8")
        for width, height in SIZES:
            dom = chromium(folder, frame(folder, page, width, height), "--dump-dom", "--window-size=1400,1000")
            told = re.search(r'<pre id="out">(\{.*?\})</pre>', dom, re.S)
            if not told:
                sys.exit(f"{width}: Chromium told nothing")
            result = json.loads(html.unescape(told[1]))
            failed = failed or bool(result["found"]) or result["width"] != width
            print(f"{width} wide: {result['texts']} texts, {result['rtl']} from right to left, {len(result['found'])} faults")
            for fault in result["found"][:10]:
                print("   ", fault)
        if out:
            out.mkdir(parents=True, exist_ok=True)
            page.write_text(source, encoding="utf-8")  # as it is, with its policy
            for width, height in SIZES[1:]:
                for scheme in ("light", "dark"):
                    for part in ("", "#profiles", "#games"):
                        shot = out / f"{width}-{scheme}{part.replace('#', '-')}.png"
                        chromium(folder, frame(folder, page, width, height, part), f"--screenshot={shot}", f"--window-size={max(width, 500)},{height}",
                                 f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}")
    sys.exit(1 if failed else 0)


main()
