"""Made-up questions in the files that the published sets have, and what lm-evaluation-harness makes of them.

    pip install lm-eval==0.4.13 --no-deps; pip install datasets jinja2 sacrebleu requests
    python harness.py

writes belebele/ and Global-MMLU/ as they lie on the Hugging Face hub, and harness.json with each prompt and score.
The model is a hash of the text, so that the scores are known without one.
"""
import hashlib
import json
import os

import datasets
import pyarrow.parquet
from lm_eval import evaluator
from lm_eval.api.group import Group
from lm_eval.api.model import LM
from lm_eval.config.group import AggMetricConfig
from lm_eval.tasks import TaskManager

here = os.path.dirname(os.path.abspath(__file__))


def passage(n, text, question, answers, right, dialect, ds="2023-05-03"):
    d = {"link": f"https://example.org/{n // 2}", "question_number": 1 + n % 2, "flores_passage": text, "question": question}
    d |= {f"mc_answer{i + 1}": a for i, a in enumerate(answers)}
    return d | {"correct_answer_num": str(right), "dialect": dialect, "ds": ds}


belebele = {
    "eng_Latn": [
        passage(0, "A bear sleeps in the old mill.", "Who sleeps?", ["A dog", "A bear", "A cat ", "Nobody"], 2, "eng_Latn"),
        passage(1, "A bear sleeps in the old mill.", "\u3000 Where does it\nsleep? \x1f", ["{{ A }}", "In the \"mill\"", "<s>", "?"], 1, "eng_Latn"),
        passage(2, " A passage\twith blanks ", "And {{question}}?", ["1", "", "3", "4"], 4, "eng_Latn"),
        passage(3, "The last & shortest.", "Which?", ["a", "b", "c", "d"], 3, "eng_Latn"),
    ],
    "heb_Hebr": [
        passage(0, "הדוב ישן בטחנה.", "\u00a0מי ישן?", ["כלב", "דוב", "חתול", "אף אחד"], 2, "heb_Hebr"),
        passage(1, "הדוב ישן בטחנה.", "איפה הוא ישן?\n", ["כאן", "שם", "בטחנה", "בבית"], 3, "heb_Hebr"),
        passage(2, "קצר.", "מה?", ["א", "ב", "ג", "ד"], 1, "heb_Hebr"),
    ],
}

columns = ["sample_id", "subject", "subject_category", "question", "option_a", "option_b", "option_c", "option_d", "answer",
           "required_knowledge", "time_sensitive", "reference", "culture", "region", "country", "cultural_sensitivity_label", "is_annotated"]


def mmlu(split, subject, n, question, options, answer):
    rest = ["[]", "[]", "[]", "[]", "[]", "[]", "-", False]
    return dict(zip(columns, [f"{subject}/{split}/{n}", subject, "STEM", question, *options, answer, *rest]))


global_mmlu = {
    "dev": [mmlu("dev", s, n, f" سؤال {n} عن {s}؟\n", [f"{n}", "نعم", "لا", f"{n + 1}"], "ABCD"[(n + len(s)) % 4])
            for n in range(6) for s in ("virology", "anatomy", "astronomy")],
    "test": [
        mmlu("test", "anatomy", 0, "\u00a0كم عظمة؟\n", ["100", "206", "300", "7"], "B"),
        mmlu("test", "virology", 0, "ما هو؟", ["A", "{% B %}", None, "D"], "C"),
        mmlu("test", "anatomy", 1, "أين\nالقلب؟", [" هنا", "هناك ", "\tلا", "«نعم»"], "A"),
        mmlu("test", "astronomy", 0, "ما أقرب كوكب؟", ["1", "2", "3", "4"], "D"),
        mmlu("test", "virology", 1, "س؟", ["", "2", "3", "4"], "D"),
        mmlu("test", "anatomy", 2, "ج", ["1", "2", "3", "4"], "C"),
        mmlu("test", "astronomy", 1, "ق", ["1", "2", "3", "4"], "B"),
    ],
}


def write():
    os.makedirs(f"{here}/belebele/data", exist_ok=True)
    os.makedirs(f"{here}/Global-MMLU/ar", exist_ok=True)
    for lang, docs in belebele.items():
        with open(f"{here}/belebele/data/{lang}.jsonl", "w") as f:
            f.writelines(json.dumps(d, ensure_ascii=False) + "\n" for d in docs)
    for split, docs in global_mmlu.items():
        datasets.Dataset.from_list(docs).to_parquet(f"{here}/Global-MMLU/ar/{split}-00000-of-00001.parquet")
    # The same questions with what else pyarrow has: small groups of rows, other pages, encodings and types.
    table = pyarrow.Table.from_pylist(global_mmlu["test"])
    large = pyarrow.schema([(f.name, pyarrow.large_string() if f.type == pyarrow.string() else f.type) for f in table.schema])
    os.makedirs(f"{here}/Global-MMLU/fr", exist_ok=True)
    pyarrow.parquet.write_table(table.cast(large), f"{here}/Global-MMLU/fr/test-00000-of-00001.parquet", row_group_size=4, compression="zstd", data_page_version="2.0",
                                use_dictionary=["subject", "answer"], write_page_checksum=True)


def load(path, name=None, **_):
    if "belebele" in path.lower():
        return datasets.load_dataset_from("json", data_files={"test": f"{here}/belebele/data/{name}.jsonl"})
    files = {s: f"{here}/Global-MMLU/{name}/{s}-00000-of-00001.parquet" for s in ("test", "dev")}
    return datasets.load_dataset_from("parquet", data_files=files)


class Hash(LM):
    def loglikelihood(self, requests, **_):
        return [(likely("".join(r.args)), False) for r in requests]

    def loglikelihood_rolling(self, requests, **_): ...
    def generate_until(self, requests, **_): ...


def likely(text):
    return -int.from_bytes(hashlib.sha256(f"7 {text}".encode()).digest()[:4], "big") / 2**28


def result(tasks, shots):
    r = evaluator.simple_evaluate(model=Hash(), task_manager=manager, tasks=tasks, num_fewshot=shots, log_samples=True, bootstrap_iters=1)
    prompts, scores = {}, {}
    for task, samples in r["samples"].items():
        samples.sort(key=lambda s: s["doc_id"])
        assert all([a[1] for a in s["arguments"]] == [" A", " B", " C", " D"] for s in samples)
        prompts[task] = [s["arguments"][0][0] for s in samples]
    groups = {g: group(g).aggregate(r["results"]) for g in ("micro", "macro") if "belebele" not in tasks[0]}
    for task, m in (r["results"] | groups).items():
        scores[task] = {"acc": m["acc,none"], "se": m["acc_stderr,none"]}
    return {"shots": shots, "prompts": prompts, "scores": scores}


def group(name):
    """Global MMLU's own group names all 57 subjects, which these files do not have."""
    g = Group(name, aggregate_metric_list=[AggMetricConfig("acc", weight_by_size=name == "micro")])
    for task in manager.load(subjects)["tasks"].values():
        g.add(task)
    return g


if __name__ == "__main__":
    write()
    manager = TaskManager()
    datasets.load_dataset_from, datasets.load_dataset = datasets.load_dataset, load
    subjects = [f"global_mmlu_full_ar_{s}" for s in ("anatomy", "astronomy", "virology")]
    out = [result(tasks, n) for tasks, n in ((["belebele_eng_Latn", "belebele_heb_Hebr"], 0), (["belebele_eng_Latn", "belebele_heb_Hebr"], 2), (subjects, 0), (subjects, 5))]
    with open(f"{here}/harness.json", "w") as f:
        json.dump(out, f, ensure_ascii=False, indent=1)
