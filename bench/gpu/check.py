"""The steps of check.sh, and the file of their results. Standard library only."""
import argparse
import ctypes
import datetime
import glob
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from results import Power, Report, logits_apart, of_bench, of_tune, points_of, say

HERE = os.path.dirname(os.path.abspath(__file__))
TINY = ["synthetic:qwen3-tiny", "synthetic:llama-tiny", "synthetic:mistral3-tiny", "synthetic:gemma4-tiny"]
MODELS = ["synthetic:qwen3-4b", "synthetic:gemma4-e4b", "synthetic:ministral3-3b"]
LIMITS = {"doctor": 60, "logits": 60, "copy": 30, "tune": 60, "bench": 45}  # seconds, loading included
GRACE = 10  # seconds that an interrupted program has to end in
LEAST = 15  # seconds without which no step is begun
PRCTL = ctypes.CDLL(None).prctl


class Failed(Exception):
    """A step that did not do what it should: why, for the user."""


class Check:
    def __init__(self, options):
        self.report = Report(options.out, mode="cpu" if options.cpu else "gpu", host=host())
        self.cpu, self.root = options.cpu, options.root
        self.program = options.program or os.path.join(options.root, "bin", "selfplay")
        self.library = os.path.join(options.root, "lib", "ollama", "libggml-cuda.so")
        self.deadline = time.monotonic() + 60 * options.minutes
        self.child = None
        self.work = tempfile.mkdtemp(prefix="selfplay-check-")
        self.env = dict(os.environ, XDG_CACHE_HOME=os.path.join(self.work, "cache"), TMPDIR=weights_folder(self.work))
        # One GPU, and the same one for CUDA and nvidia-smi; the last step takes all.
        self.env.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
        self.gpu = self.env.setdefault("CUDA_VISIBLE_DEVICES", "0")
        with open(os.path.join(HERE, "shapes.json")) as f:
            self.shapes = json.load(f)
        self.power = None
        self.log = []  # the lines of a program's standard error
        self.answered = 0.0  # when the last line of a program's standard output came
        self.copied = None  # bytes a second that the GPU copies, once measured

    def device(self):
        return ["--device", "cpu" if self.cpu else "gpu"]

    def run(self, args, limit, stdin=""):
        """Gives the program's standard output and shows its standard error. At its limit the program is
        interrupted, as with Ctrl-C, and its output is kept; then `cut` is true."""
        limit = min(limit, self.deadline - time.monotonic() - GRACE)
        say("$ " + " ".join([os.path.basename(args[0])] + args[1:]))
        log, out = [], []
        self.log = log
        self.report.note(command=args, log=log)
        self.child = child = subprocess.Popen(
            args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", env=self.env,
            start_new_session=True, preexec_fn=die_with_parent)
        readers = [threading.Thread(target=self.drain, args=(child.stderr, log, True)), threading.Thread(target=self.drain, args=(child.stdout, out, False))]
        for r in readers:
            r.start()
        threading.Thread(target=feed, args=(child.stdin, stdin), daemon=True).start()
        cut = False
        try:
            child.wait(max(limit, 1))
        except subprocess.TimeoutExpired:
            cut = True
            say("its %.0f seconds are over: interrupting it" % limit)
            child.send_signal(signal.SIGINT)
            try:
                child.wait(GRACE)
            except subprocess.TimeoutExpired:
                say("it does not end: killing it")
        self.end_child()
        for r in readers:
            r.join(GRACE)
        self.report.note(log=log[-20:], exit=child.returncode)
        if child.returncode != 0 and not cut:
            self.report.note(output=out[-200:])
            raise Failed("exit code %d: %s" % (child.returncode, log[-1] if log else "it said nothing"))
        return "\n".join(out), cut

    def drain(self, stream, lines, show):
        for line in stream:
            lines.append(line.rstrip("\n"))
            if show:
                say("  " + lines[-1])
            else:
                self.answered = time.monotonic()

    def end_child(self):
        """Leaves nothing of the program running, nor of its own children."""
        child, self.child = self.child, None
        if child is not None:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()

    def step(self, name, work, *args):
        """Does one step and keeps what came of it, whatever that is."""
        left = self.deadline - time.monotonic()
        if left < LEAST:
            self.report.skip(name, "out of time")
            return False
        self.report.begin(name)
        try:
            self.report.end("ok", **work(*args))
            return True
        except Exception as e:  # whatever it is, the other steps go on
            self.report.end("failed", problem=str(e) if isinstance(e, Failed) else repr(e))
            return False

    # The steps. Each gives what the file is to hold of it.

    def nvidia(self):
        fields = ["index", "name", "driver_version", "memory.total", "memory.free", "power.limit", "clocks.max.sm", "clocks.max.memory",
                  "compute_cap", "ecc.mode.current", "mig.mode.current", "persistence_mode", "temperature.gpu"]
        text = smi("--query-gpu=" + ",".join(fields), "--format=csv,noheader,nounits")
        gpus = [dict(zip(fields, [v.strip() for v in line.split(",")])) for line in text.splitlines()]
        for g in gpus:
            say(", ".join("%s %s" % pair for pair in g.items()))
        return {"gpus": gpus, "text": smi(), "topology": smi("topo", "-m")}

    def load_library(self):
        """What the runtime would not say: why it cannot load the CUDA library."""
        if not os.path.exists(self.library):
            raise Failed("%s is not there: make cuda, or check.sh --build" % self.library)
        code = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
        done = subprocess.run([sys.executable, "-c", code, self.library], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            why = (done.stdout.strip().splitlines() or ["it crashed"])[-1]
            raise Failed("%s does not load: %s. Is CUDA's folder of libraries in LD_LIBRARY_PATH? For another release of CUDA: check.sh --build"
                         % (self.library, why))
        return {"library": self.library, "bytes": os.path.getsize(self.library)}

    def doctor(self):
        out, _ = self.run([self.program, "doctor", "--json"] + self.device(), LIMITS["doctor"])
        found = json.loads(out)
        if not self.cpu and not found["machine"]["gpus"]:
            raise Failed("doctor finds no GPU: " + "; ".join(found["warnings"]))
        return {"result": found}

    def copy(self):
        out, _ = self.run([sys.executable, os.path.abspath(__file__), "--copy", "--root", self.root], LIMITS["copy"])
        self.copied = json.loads(out)["bytes_per_s"]
        say("a copy within the GPU reads and writes %.2f TB/s" % (self.copied / 1e12))
        return {"bytes_per_s": self.copied}

    def logits(self, model):
        """The same prompts on the CPU and on the GPU: short, past a window and past a model's first context."""
        rng = random.Random(1)
        lengths = [2, 40, 100] if self.cpu else [2, 40, 700]
        lines = "".join(json.dumps({"ids": [rng.randrange(3, 512) for _ in range(n)]}) + "\n" for n in lengths)
        decoded = []
        for device in ["cpu", "cpu" if self.cpu else "gpu"]:
            out, cut = self.run([self.program, "debug", "greedy", "--model", model, "--n", "8", "--device", device], LIMITS["logits"], lines)
            if cut:
                raise Failed("decoding %d prompts took too long" % len(lengths))
            decoded.append([json.loads(line) for line in out.splitlines()])
        found = logits_apart(decoded[0], decoded[1])
        say("%s: log-probabilities differ by %.4f at most in %d steps%s" % (
            model, found["largest_difference"], found["steps"], "" if found["ok"] else ": TOO MUCH"))
        if not found["ok"]:
            raise Failed("the devices disagree: " + json.dumps(found))
        out, _ = self.run([self.program, "doctor", "--model", model, "--json"] + self.device(), LIMITS["doctor"])
        found["among"] = json.loads(out).get("among")
        if found["among"]:
            say("%s: among %d slots logits differ by %.4f from those computed alone" % (model, found["among"]["slots"], found["among"]["largest_logit_difference"]))
        elif not self.cpu:
            raise Failed("doctor does not tell how a row differs among others")
        return {"result": found}

    def tune(self, model, slots, context):
        out, cut = self.run([self.program, "tune", "--model", model, "--slots", str(slots), "--context", str(context), "--json"] + self.device(), LIMITS["tune"])
        found = {"points": points_of(self.log)} if cut else json.loads(out)
        if self.cpu and len(points_of(self.log)) != len(found["points"]):
            raise Failed("its table is not read as it is meant: see points_of")
        if not found["points"]:
            raise Failed("it was cut off before it had measured anything")
        speeds = of_tune(found, self.shapes[model], context // 2, self.copied)
        for s in speeds["decode"]:
            say("%s: %4d slots write %.0f tokens/s, %.0f %% of the memory's bandwidth" % (model, s["slots"], s["tok_per_s"], 100 * s["of_bandwidth"]))
        return {"cut": cut, "result": found, "speeds": speeds}

    def bench(self, model, live, tokens, gpus=1):
        """Twice as many games as are played at once. Random weights write random answers: each goes on to the limit
        and is invalid, so that a game is two turns long. Their tokens are bytes: prompts are of 583 tokens and of some
        1,150, for which the context has blocks of 768 and 1536."""
        folder = os.path.join(self.work, "run-%d" % time.monotonic_ns())
        args = [self.program, "bench", "--model", model, "--games", "Nim", "--langs", "en", "--n", str(live), "--context", "1536",
                "--slots", str(live), "--chunk", str(max(1024, 2 * live)), "--max-tokens", str(tokens), "--run", folder, "--json"]
        if self.cpu:
            args += ["--threads", "1"]
        else:
            args += ["--gpus", "0" if gpus == 1 else "all"]
        out, cut = self.run(args + self.device(), LIMITS["bench"])
        shutil.rmtree(folder, ignore_errors=True)
        lines = out.splitlines()
        if not lines or not lines[-1].startswith("{"):
            raise Failed("cut off before it had anything to say" if cut else "its last line is no JSON object")
        found = json.loads(lines[-1])
        used = self.power.between(self.answered - found["seconds"], self.answered) if self.power and gpus == 1 else None
        speeds = of_bench(found, self.shapes[model], live, gpus, self.copied, used)
        say("%s, %d games at once%s: %.2f games/s, %.0f tokens/s written, %.0f read%s" % (
            model, live, ", cut off" if cut else "", found["games_per_s"], found["completion_tok_per_s"], speeds["prefill_tok_per_s"],
            ", %.1f J a thousand written" % speeds["joules_per_1000_written"] if "joules_per_1000_written" in speeds else ""))
        return {"live": live, "gpus": gpus, "cut": cut, "result": found, "speeds": speeds, "power": used}

    def all(self):
        """What matters most comes first."""
        if self.cpu:
            models, lives, tokens, slots, context = ["synthetic:qwen3-tiny"], [2, 4], 4, 2, 128
        else:
            models, lives, tokens, slots, context = MODELS, [256, 64, 1024], 128, 1024, 2048
            if not self.step("nvidia-smi", self.nvidia):
                return
            self.power = Power(self.gpu, die_with_parent)
            if not self.step("library", self.load_library):
                return
        if not self.step("doctor", self.doctor):
            return
        for model in TINY:
            self.step("logits " + model, self.logits, model)
        if not self.cpu:
            self.step("copy", self.copy)
        for model in models:
            self.step("bench %s %d" % (model, lives[0]), self.bench, model, lives[0], tokens)
        for model in models:
            self.step("tune " + model, self.tune, model, slots, context)
        for live in lives[1:]:
            for model in models:
                self.step("bench %s %d" % (model, live), self.bench, model, live, tokens)
        count = 0 if self.cpu else len(self.report.named("nvidia-smi")["gpus"])
        if count > 1:
            del self.env["CUDA_VISIBLE_DEVICES"]
            self.step("bench all GPUs", self.bench, MODELS[0], 256 * count, tokens, count)

    def close(self):
        self.end_child()
        if self.power:
            self.power.close()
        shutil.rmtree(self.work, ignore_errors=True)
        if self.env["TMPDIR"].startswith("/dev/shm/"):
            shutil.rmtree(self.env["TMPDIR"], ignore_errors=True)


def weights_folder(work):
    """Made-up weights, of 15 GB, go through a file without a name: in memory, where there is plenty."""
    try:
        free = shutil.disk_usage("/dev/shm").free
    except OSError:
        free = 0
    return tempfile.mkdtemp(prefix="selfplay-check-", dir="/dev/shm") if free > 40 << 30 else work


def die_with_parent():
    """In a new child: the kernel interrupts it when this process is gone, whatever ended that."""
    PRCTL(1, signal.SIGINT)  # PR_SET_PDEATHSIG


def feed(stream, text):
    try:
        stream.write(text)
        stream.close()
    except OSError:
        pass  # it ended before it had read everything; its exit code says why


def smi(*args):
    try:
        done = subprocess.run(["nvidia-smi"] + list(args), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30)
    except FileNotFoundError:
        raise Failed("there is no nvidia-smi: install NVIDIA's driver; --cpu checks this script without one") from None
    except subprocess.TimeoutExpired:
        raise Failed("nvidia-smi does not answer: is the driver well?") from None
    if done.returncode != 0:
        raise Failed("nvidia-smi: " + done.stdout.strip())
    return done.stdout.strip()


def host():
    with open("/proc/meminfo") as f:
        memory = f.readline().split()[1]
    return {"cores": len(os.sched_getaffinity(0)), "memory_bytes": int(memory) << 10, "kernel": os.uname().release, "python": sys.version.split()[0]}


def copy_bandwidth(root):
    """Copies 4 GiB within the GPU ten times and prints the bytes read and written a second."""
    folders = [os.path.join(root, "lib", "ollama"), os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "lib64")]
    found = [path for folder in folders for path in sorted(glob.glob(os.path.join(folder, "libcudart.so*")))]
    cuda = ctypes.CDLL(found[0] if found else "libcudart.so")

    def call(name, *args):
        code = getattr(cuda, name)(*args)
        if code != 0:
            sys.exit("%s: CUDA's error %d" % (name, code))
    size = 4 << 30
    ends = [ctypes.c_void_p(), ctypes.c_void_p()]
    for p in ends:
        call("cudaMalloc", ctypes.byref(p), ctypes.c_size_t(size))
        call("cudaMemset", p, 1, ctypes.c_size_t(size))
    rates = []
    for _ in range(10):
        call("cudaDeviceSynchronize")
        start = time.perf_counter()
        call("cudaMemcpy", ends[1], ends[0], ctypes.c_size_t(size), 3)  # device to device
        call("cudaDeviceSynchronize")
        rates.append(2 * size / (time.perf_counter() - start))
    print(json.dumps({"bytes_per_s": statistics.median(rates)}))


def main():
    p = argparse.ArgumentParser(prog="check.sh", description="Checks and measures selfplay on a GPU box.")
    p.add_argument("--root", default=os.path.join(HERE, "..", ".."), help=argparse.SUPPRESS)
    p.add_argument("--copy", action="store_true", help=argparse.SUPPRESS)
    p.add_argument("--out", default=datetime.datetime.now().strftime("gpu-check-%Y%m%d-%H%M%S.json"), help="file of the results")
    p.add_argument("--minutes", type=float, default=8, help="that it takes at most (8)")
    p.add_argument("--cpu", action="store_true", help="tiny models on the CPU, to check the check")
    p.add_argument("--program", help="selfplay, if it is not bin/selfplay")
    options = p.parse_args()
    if options.copy:
        return copy_bandwidth(options.root)
    if not options.minutes > 0.5:
        p.error("--minutes %g: it takes more than half a minute" % options.minutes)
    try:
        check = Check(options)
    except OSError as e:
        p.error("--out %s: %s" % (options.out, e))
    if not os.access(check.program, os.X_OK):
        check.close()
        p.error("%s is not there: make build, or name it with --program" % check.program)

    def cut_off(number, _):
        raise SystemExit("cut off by %s" % signal.Signals(number).name)
    signal.signal(signal.SIGTERM, cut_off)
    signal.signal(signal.SIGINT, cut_off)
    signal.signal(signal.SIGHUP, cut_off)
    try:
        check.all()
    except SystemExit as e:
        check.report.cut(str(e))
    finally:
        check.close()
    return check.report.finish()


if __name__ == "__main__":
    sys.exit(main())
