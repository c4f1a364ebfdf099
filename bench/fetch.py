#!/usr/bin/env python3
"""Downloads the wheel of a Python package to a file, going on where an earlier try stopped.

    bench/fetch.py PACKAGE==VERSION SHA256 FILE

Only for building: pip finds the address and the sum, and its own HTTP library fetches.
"""
import hashlib
import json
import os
import subprocess
import sys

from pip._vendor import requests


def address(requirement):
    """Where the package index has the wheel, without downloading it."""
    out = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run",
         "--ignore-installed", "--no-deps", "--only-binary", ":all:", "--report", "-", requirement],
        capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit("fetch: %s could not be found by pip: check the network and run make again" % requirement)
    return json.loads(out.stdout)["install"][0]["download_info"]["url"]


def download(url, part):
    have = os.path.getsize(part) if os.path.exists(part) else 0
    with requests.get(url, headers={"Range": "bytes=%d-" % have}, stream=True, timeout=60) as r:
        if r.status_code == 416:  # nothing is left to fetch
            return
        r.raise_for_status()
        with open(part, "ab" if r.status_code == 206 else "wb") as f:
            total = int(r.headers.get("Content-Length", 0)) + (have if r.status_code == 206 else 0)
            for chunk in r.iter_content(1 << 20):
                f.write(chunk)
                print("\rfetch: %d of %d MB" % (f.tell() >> 20, total >> 20), end="", file=sys.stderr)
    print(file=sys.stderr)


def main():
    requirement, sha256, path = sys.argv[1:]
    part = path + ".part"
    try:
        download(address(requirement), part)
    except (OSError, requests.RequestException) as e:
        sys.exit("\nfetch: %s: %s: check the network and run make again; what has come so far is kept"
                 % (requirement, type(e).__name__))
    with open(part, "rb") as f:
        got = hashlib.sha256(f.read()).hexdigest()
    if got != sha256:
        os.remove(part)
        sys.exit("fetch: %s: the sha256 of what came is %s, not %s: run make again" % (requirement, got, sha256))
    os.replace(part, path)


if __name__ == "__main__":
    main()
