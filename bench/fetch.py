#!/usr/bin/env python3
"""Downloads one file of a Python package, going on where an earlier try stopped.

    bench/fetch.py PACKAGE==VERSION SHA256 FILE

FILE's name is the one that the package index has for the wheel or the source. Only for building: pip's own parts
find the address and fetch, as they are set up on this machine.
"""
import hashlib
import os
import sys

try:
    from pip._internal.commands import create_command
    from pip._vendor import requests
except ImportError:
    sys.exit("fetch: pip is needed for %s: install it (Debian's python3-pip) and run make again" % sys.executable)


def address(pip, options, session, requirement, name):
    """Where the package index has the file. Asking pip to install a source would build it."""
    package, version = requirement.split("==")
    finder = pip._build_package_finder(options, session)
    for candidate in finder.find_all_candidates(package):
        if str(candidate.version) == version and candidate.link.filename == name:
            return candidate.link.url_without_fragment
    sys.exit("fetch: pip finds no %s of %s: check the network and run make again" % (name, requirement))


def download(session, url, part):
    have = os.path.getsize(part) if os.path.exists(part) else 0
    headers = {"Range": "bytes=%d-" % have, "Accept-Encoding": "identity"}
    with session.get(url, headers=headers, stream=True, timeout=60) as r:
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
    pip = create_command("install")
    options, _ = pip.parse_args(["--no-cache-dir", "--ignore-requires-python"])
    try:
        with pip.main_context():
            session = pip.get_default_session(options)
            download(session, address(pip, options, session, requirement, os.path.basename(path)), part)
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
