"""Cases worked out by hand. Run by a test in cmd/selfplay."""
import json
import os
import tempfile
import unittest

from results import APART, Power, Report, logits_apart, of_bench, of_tune, points_of, step_bytes

SHAPE = {"step_bytes": 1000, "matrix_flop": 50, "head_flop": 10,
         "attention": [{"layers": 2, "window": 0, "cell_bytes": 8, "cell_flop": 1}, {"layers": 3, "window": 4, "cell_bytes": 2, "cell_flop": 1}]}


def answer(*steps):
    return {"ids": [s[0][0] for s in steps], "top": [[{"id": i, "logprob": p} for i, p in s] for s in steps]}


class Results(unittest.TestCase):
    def test_logits(self):
        near = answer([(1, -0.5), (2, -1.0)], [(3, -0.1), (4, -3.0)])
        for name, other, ok, largest, parted in [
            ("the same", near, True, 0, 0),
            ("a little off", answer([(1, -0.54), (2, -1.0)], [(3, -0.1), (4, -3.0)]), True, 0.04, 0),
            ("far off", answer([(1, -0.5), (2, -1.0)], [(3, -0.4), (4, -3.0)]), False, 0.3, 0),
            ("another token by a wide margin", answer([(2, -0.5), (1, -0.5)], [(9, -9.0)]), False, 0.5, 1),
            ("nothing in common", answer([(7, -0.5), (8, -1.0)]), False, 0, 0),
            ("not a number", answer([(1, float("nan")), (2, -1.0)]), False, 0, 0),
        ]:
            found = logits_apart([near], [other])
            self.assertEqual((found["ok"], len(found["parted"])), (ok, parted), name)
            self.assertAlmostEqual(found["largest_difference"], largest, msg=name)
        tie = answer([(1, -1.0), (2, -1.05)])
        turned = logits_apart([tie], [answer([(2, -1.0), (1, -1.05)])])
        self.assertTrue(turned["ok"] and len(turned["parted"]) == 1, "a near tie may turn")
        self.assertFalse(logits_apart([near], [])["ok"], "an answer is missing")
        self.assertFalse(logits_apart([], [])["ok"], "nothing was compared")
        self.assertGreater(APART, 0)

    def test_bytes(self):
        self.assertEqual(step_bytes(SHAPE, 3, 2), 1000 + 3 * (2 * 8 * 2 + 3 * 2 * 2))
        self.assertEqual(step_bytes(SHAPE, 3, 10), 1000 + 3 * (2 * 8 * 10 + 3 * 2 * 4))

    def test_tune(self):
        found = of_tune({"points": [{"threads": 1, "chunk": 64, "tokens_per_s": [5, 7, 6]}, {"threads": 1, "slots": 4, "tokens_per_s": [40]}]}, SHAPE, 10, 20000)
        self.assertEqual((found["prefill"][0]["tok_per_s"], found["prefill"][0]["flop_per_s"]), (6, 240))
        self.assertEqual((found["decode"][0]["bytes_per_s"], found["decode"][0]["of_copy"]), (17360, 0.868))  # 10 steps of 1000 + 4*184

    def test_points(self):
        log = ["weights threads                     tokens/s  spread  repetitions", "M: weights 2 MB (as in the file), cache 1 MB",
               "file          1  read by 64           8172.3    108%            9", "file          1  1 slot writes        3075.2      7%            9",
               "bf16         16  128 slots write      4997.0      8%            3", "file          1  4 slots wri"]
        self.assertEqual([(p["weights"], p["threads"], p.get("chunk"), p.get("slots"), p["tokens_per_s"]) for p in points_of(log)],
                         [("file", 1, 64, None, [8172.3]), ("file", 1, None, 1, [3075.2]), ("bf16", 16, None, 128, [4997.0])])

    def test_bench(self):
        run = {"completion_tok_per_s": 40, "completion_tokens": 20, "prompt_tokens": 10, "prefill_tokens": 6, "seconds": 2, "turns": 2, "games": 4}
        found = of_bench(run, SHAPE, 4, 1, None, {"joules": 8})
        self.assertEqual((found["mean_context"], found["bytes_per_s"], found["prefill_tok_per_s"]), (10, 17360, 3))
        self.assertEqual((found["joules_per_1000_written"], found["joules_per_game"]), (400, 2))
        self.assertEqual(of_bench(run, SHAPE, 4, 2, None, None)["bytes_per_s"], 10 * (1000 + 2 * 184))  # each GPU reads its weights

    def test_power(self):
        p = Power.__new__(Power)
        p.times, p.rows = [], []
        for at, line in [(1, "100, 50, 7, 1900, 40"), (2, "[N/A], 1, 1, 1, 1"), (3, "300, 100, 9, 1800, 50"), (4, "100, 0, 9, 1800, 50")]:
            p.add(at, line + "\n")
        used = p.between(0, 3.5)
        self.assertEqual(used["joules"], 100 + 400 + 150)  # drawn out to 0 and to 3.5
        self.assertEqual((used["readings"], used["max_watts"], used["mean_utilization"], used["min_clock_mhz"]), (2, 300, 75, 1800))
        self.assertIsNone(p.between(5, 6))

    def test_report(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "r.json")
        r = Report(path, mode="cpu")
        r.begin("one")
        with open(path) as f:
            self.assertEqual(json.load(f)["steps"][0]["status"], "running", "a kill leaves what ran")
        r.cut("enough")
        self.assertEqual(r.finish(), 1)
        with open(path) as f:
            kept = json.load(f)
        self.assertEqual((kept["problem"], kept["steps"][0]["status"]), ("enough", "cut off"))


if __name__ == "__main__":
    unittest.main()
