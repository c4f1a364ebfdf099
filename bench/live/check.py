#!/usr/bin/env python3
"""Drives the live view of selfplay bench in tmux, at 80x24 and at 200x60: presses
its keys and reads the screen. Leaves what was on it in a folder, as text, and as
pictures if there is a Chromium.

check.py PROGRAM MODEL FOLDER
"""
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata

PATIENCE = 300  # seconds, far more than anything takes


class Terminal:
    def __init__(self, folder, width, height):
        self.folder, self.width, self.height = folder, width, height
        self.tmux("new-session", "-d", "-s", "t", "-x", str(width), "-y", str(height), "env PS1='shell> ' bash --norc --noprofile")

    def tmux(self, *args):
        """Runs tmux with a server of this terminal's own."""
        server = f"selfplay-{os.getpid()}-{self.width}"
        return subprocess.run(["tmux", "-L", server, "-f", "/dev/null", *args], capture_output=True, text=True, check=True).stdout

    def keys(self, *keys):
        self.tmux("send-keys", "-t", "t", *keys)

    def screen(self):
        return self.tmux("capture-pane", "-p", "-t", "t")

    def until(self, what, *parts):
        """Waits until the screen has all parts, or what is asked of it is true."""
        end = time.time() + PATIENCE
        while time.time() < end:
            screen = self.screen()
            if all(part(screen) if callable(part) else part in screen for part in parts):
                return screen
            time.sleep(0.1)
        sys.exit(f"no {what} at {self.width}x{self.height}:\n{self.screen()}")

    def keep(self, name):
        """Keeps the screen as it is now."""
        lines = self.tmux("capture-pane", "-e", "-p", "-t", "t").rstrip("\n").split("\n")
        path = self.folder / f"{name}-{self.width}x{self.height}"
        path.with_suffix(".txt").write_text(self.screen())
        path.with_suffix(".html").write_text(page(lines, self.width, self.height))
        if len(lines) > self.height:
            sys.exit(f"{path}: {len(lines)} lines")


def wide(char):
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


COLOURS = {31: "#f66", 32: "#6c6", 33: "#dc6", 36: "#6cc"}


def page(lines, width, height):
    """The screen as a page: each character stands in its own cell."""
    cells, style = [], {}
    for y, line in enumerate(lines):
        x = 0
        for codes, char in re.findall(r"\x1b\[([0-9;]*)m|(.)", line):
            if not char:
                for code in map(int, filter(None, (codes or "0").split(";"))):
                    gone = {39: COLOURS, 22: (1, 2), 0: tuple(style)}.get(code, ())
                    style = {k: True for k in (*style, code) if k not in gone}
                continue
            look = "".join(f"color:{c};" for code, c in COLOURS.items() if code in style)
            look += "font-weight:bold;" if 1 in style else ""
            look += "opacity:.55;" if 2 in style else ""
            if char != " ":
                cells.append(f'<i style="left:{x}ch;top:{1.2 * y:.1f}em;{look}">{html.escape(char)}</i>')
            x += wide(char)
    return f"""<!DOCTYPE html><meta charset="utf-8"><style>
body {{margin:8px;background:#111;color:#ddd;font:14px/1.2 "DejaVu Sans Mono",monospace;position:relative;width:{width}ch;height:{1.2 * height}em}}
i {{position:absolute;font-style:normal;white-space:pre;unicode-bidi:bidi-override;direction:ltr}}</style>{"".join(cells)}"""


def pictures(folder):
    chromium = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    if not chromium:
        print("no chromium: no pictures")
        return
    with tempfile.TemporaryDirectory() as profile:
        for path in sorted(folder.glob("*.html")):
            width, height = map(int, path.stem.rsplit("-", 1)[1].split("x"))
            subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                            f"--window-size={int(width * 8.43) + 24},{int(height * 16.8) + 24}", f"--screenshot={path.with_suffix('.png')}", path.as_uri()],
                           capture_output=True, timeout=180, check=True)


def ended(screen):
    found = re.search(r"([\d,]+) of [\d,]+ games", screen)
    return int(found[1].replace(",", "")) if found else -1


def drive(t, program, model, run):
    t.until("prompt", "shell>")
    t.keys("stty -a >before", "Enter")
    t.keys(f"clear; {program} bench --model {model} --games TicTacToe,Nim --langs he,ar,zh,en,de,es,fr,ms --n 50 "
           f"--max-tokens 24 --threads 1 --slots 8 --run {run}", "Enter")
    t.until("view", "playing", "space pause")
    t.until("ended game", lambda s: ended(s) > 0)
    t.until("moves", lambda s: re.search(r"  1 \w\w |turn 1, ", s))
    t.keep("overview")
    for name, part in ("answers", "truncated  "), ("game", "turn "), ("machine", "machine"):
        t.keys("Tab")
        t.until(name, part)
        t.keep(name)
        if name == "game":
            for lang in "ar", "zh":
                t.until(f"game in {lang}", lambda s: re.search(rf"turn \d+, seat \d, {lang}\b", s) or t.keys("Down"))
                t.keep(f"game-{lang}")
    t.keys("?")
    t.until("help", "any key leaves this help")
    t.keep("help")
    t.keys("x", "1", "Right")
    t.until("other margins", "game 2 of 2")
    t.keys("Space")
    paused = ended(t.until("pause", "paused"))
    t.keep("paused")
    t.keys("Left")
    if ended(t.until("margins", "game 1 of 2")) != paused:
        sys.exit("games ended while it was paused")
    t.keys("Down")
    t.keys("C-z")
    t.until("shell", "Stopped")
    t.keys("clear; stty -a >between; cmp before between && echo as be''fore", "Enter")
    t.until("the terminal's modes as before", "as before")
    t.keys("clear; fg", "Enter")
    t.until("view again", "paused")
    t.keys("Space")
    t.until("more games", "playing", lambda s: ended(s) > paused)
    t.keys("C-c")
    t.until("command that goes on", "resume with", "shell>")
    t.keep("left")
    t.keys("clear; stty -a >after; cmp before after && echo as be''fore", "Enter")
    t.until("the terminal's modes as before", "as before")


def main():
    program, model, folder = os.path.abspath(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]).absolute()
    if os.path.exists(model):
        model = os.path.abspath(model)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for width, height in (80, 24), (200, 60):
        with tempfile.TemporaryDirectory() as work:
            os.chdir(work)
            terminal = Terminal(folder, width, height)
            try:
                drive(terminal, program, model, "run")
            finally:
                terminal.tmux("kill-server")
                os.chdir("/")
    pictures(folder)
    print(f"the live view works in tmux; what was seen: {folder}")


main()
