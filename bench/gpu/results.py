"""What check.py makes of the programs' answers, and the file that keeps it."""
import bisect
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time

BANDWIDTH = 4.8e12  # bytes a second that the vendor gives for an H200
APART = 0.1  # that two devices' log-probabilities may differ by: bf16 has eight bits


def say(text):
    print("%s %s" % (time.strftime("%H:%M:%S"), text), flush=True)


class Report:
    """One JSON file, whole at any time: each step is in it from its beginning on."""

    def __init__(self, path, **facts):
        self.path = path
        self.data = dict({"format": 1, "started": now(), "finished": None, "problem": None}, **facts, steps=[])
        self.began = 0.0
        self.write()

    def write(self):
        part = self.path + ".part"
        with open(part, "w") as f:
            json.dump(self.data, f, indent=1)
            f.write("\n")
            f.flush()
            os.fsync(f.fileno())
        os.replace(part, self.path)

    def begin(self, name):
        self.began = time.monotonic()
        self.data["steps"].append({"name": name, "status": "running", "seconds": None})
        self.write()
        say("== " + name)

    def note(self, **facts):
        """Adds to the step that runs; of several programs that it runs, the last one's stay."""
        self.data["steps"][-1].update(facts)

    def end(self, status, **facts):
        self.note(status=status, seconds=round(time.monotonic() - self.began, 3), **facts)
        if status != "ok":
            say("%s: %s" % (status, facts.get("problem")))
        self.write()

    def skip(self, name, why):
        say("== %s: skipped, %s" % (name, why))
        self.data["steps"].append({"name": name, "status": "skipped", "seconds": 0, "problem": why})
        self.write()

    def cut(self, why):
        say(why)
        self.data["problem"] = why
        if self.data["steps"] and self.data["steps"][-1]["status"] == "running":
            self.end("cut off", problem=why)
        self.write()

    def named(self, name):
        return next(s for s in self.data["steps"] if s["name"] == name)

    def finish(self):
        """Gives the exit code."""
        self.data["finished"] = now()
        self.write()
        bad = [s["name"] for s in self.data["steps"] if s["status"] != "ok"]
        say("%d of %d steps are well%s; all of it in %s" % (
            len(self.data["steps"]) - len(bad), len(self.data["steps"]), ", not: " + ", ".join(bad) if bad else "", self.path))
        return 1 if bad or self.data["problem"] else 0


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def logits_apart(one, other):
    """Compares two devices' greedy decoding of the same prompts, as debug greedy prints it: step by step while both
    took the same tokens. They may part where the first one's best two are nearer than rounding."""
    largest, steps, parted, wrong = 0.0, 0, [], []
    if len(one) != len(other):
        wrong.append("%d answers and %d" % (len(one), len(other)))
    for prompt, (a, b) in enumerate(zip(one, other)):
        for step, (top, top2) in enumerate(zip(a["top"], b["top"])):
            steps += 1
            second = {s["id"]: s["logprob"] for s in top2}
            shared = [abs(s["logprob"] - second[s["id"]]) for s in top if s["id"] in second]
            if not shared or any(d != d for d in shared):
                wrong.append("prompt %d, step %d: no likely token in common" % (prompt, step))
                break
            largest = max([largest] + shared)
            if a["ids"][step] != b["ids"][step]:
                margin = top[0]["logprob"] - top[1]["logprob"]
                parted.append({"prompt": prompt, "step": step, "margin": margin})
                if margin > 2 * APART:
                    wrong.append("prompt %d, step %d: another token, by a margin of %.3f" % (prompt, step, margin))
                break
    if largest > APART:
        wrong.append("log-probabilities differ by %.3f, more than %g" % (largest, APART))
    if steps == 0:
        wrong.append("no step was compared")
    return {"ok": not wrong, "largest_difference": largest, "allowed": APART, "steps": steps, "parted": parted, "wrong": wrong}


def step_bytes(shape, slots, context):
    """What a decode step of so many slots reads: the weights once, and each slot's keys and values."""
    cells = sum(a["layers"] * a["cell_bytes"] * (min(context, a["window"]) if a["window"] else context) for a in shape["attention"])
    return shape["step_bytes"] + slots * cells


def shares(bytes_per_s, copied):
    found = {"bytes_per_s": bytes_per_s, "of_bandwidth": bytes_per_s / BANDWIDTH}
    if copied:
        found["of_copy"] = bytes_per_s / copied
    return found


def points_of(log):
    """tune's points, of the table that it shows while it measures: cut off, it prints no others."""
    points = []
    for line in log:
        found = re.match(r"(\w+) +(\d+)  (?:(\d+) slots? writes?|read by (\d+)) +([0-9.]+) +\d+% +\d+$", line)
        if found:
            weights, threads, slots, chunk, rate = found.groups()
            what = {"slots": int(slots)} if slots else {"chunk": int(chunk)}
            points.append(dict({"weights": weights, "threads": int(threads), "tokens_per_s": [float(rate)]}, **what))
    return points


def of_tune(found, shape, context, copied):
    """Speeds of tune's points: decoding with so many tokens in every slot, and reading."""
    decode, prefill = [], []
    for p in found["points"]:
        rate = statistics.median(p["tokens_per_s"])
        if p.get("slots"):
            per_s = rate / p["slots"] * step_bytes(shape, p["slots"], context)
            decode.append(dict({"slots": p["slots"], "threads": p["threads"], "context": context, "tok_per_s": rate}, **shares(per_s, copied)))
        else:
            prefill.append({"chunk": p["chunk"], "threads": p["threads"], "tok_per_s": rate, "flop_per_s": rate * (shape["matrix_flop"] - shape["head_flop"])})
    return {"decode": decode, "prefill": prefill}


def of_bench(found, shape, live, gpus, copied, used):
    """Speeds of a whole run. The bytes a second are those that decoding reads on one GPU, over all the time, that of
    the prompts too: the share of the bandwidth is so a lower bound."""
    context = int((found["prompt_tokens"] + found["completion_tokens"] / 2) / max(found["turns"], 1))
    per_s = found["completion_tok_per_s"] / live * step_bytes(shape, live / gpus, context)
    speeds = dict({"decode_tok_per_s": found["completion_tok_per_s"], "prefill_tok_per_s": found["prefill_tokens"] / max(found["seconds"], 1e-9),
                   "mean_context": context}, **shares(per_s, copied))
    if used and found["completion_tokens"]:
        speeds["joules_per_1000_written"] = 1000 * used["joules"] / found["completion_tokens"]
        if found["games"]:
            speeds["joules_per_game"] = used["joules"] / found["games"]
    return speeds


class Power:
    """Five readings a second of the GPU's power and what goes with it, by nvidia-smi."""
    FIELDS = ["power.draw", "utilization.gpu", "memory.used", "clocks.sm", "temperature.gpu"]

    def __init__(self, gpu, before):
        self.times, self.rows = [], []
        self.child = subprocess.Popen(
            ["nvidia-smi", "-i", gpu.split(",")[0], "--query-gpu=" + ",".join(self.FIELDS), "--format=csv,noheader,nounits", "-lms", "200"],
            stdout=subprocess.PIPE, stderr=sys.stderr, text=True, preexec_fn=before)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.child.stdout:
            self.add(time.monotonic(), line)

    def add(self, at, line):
        try:
            row = [float(v) for v in line.split(",")]
        except ValueError:
            return  # a field that this GPU does not have
        if len(row) == len(self.FIELDS):
            self.rows.append(row)
            self.times.append(at)

    def between(self, start, end):
        """Energy as the sum of the trapezoids under the readings, drawn out to both ends; None without readings."""
        first, last = bisect.bisect_left(self.times, start), bisect.bisect_right(self.times, end)
        times, rows = self.times[first:last], self.rows[first:last]
        if not rows or end <= start:
            return None
        watts = [r[0] for r in rows]
        points = list(zip([start] + times + [end], [watts[0]] + watts + [watts[-1]]))
        joules = sum((t2 - t1) * (w1 + w2) / 2 for (t1, w1), (t2, w2) in zip(points, points[1:]))
        return {"joules": joules, "mean_watts": joules / (end - start), "max_watts": max(watts), "readings": len(rows),
                "mean_utilization": statistics.mean(r[1] for r in rows), "max_memory_mib": max(r[2] for r in rows),
                "min_clock_mhz": min(r[3] for r in rows), "max_temperature": max(r[4] for r in rows)}

    def close(self):
        self.child.kill()
        self.child.wait()
