"""Asks text-lines what `tokenizers` answered: check.py TEXT-LINES TOKENS ANSWERS"""
import json
import subprocess
import sys

PLAIN, SPECIAL, ENDS = 0, 1, 2


def ask(program, tokens, questions):
    run = subprocess.run([program, tokens], input="\n".join(questions) + "\n",
                         capture_output=True, text=True)
    lines = run.stdout.split("\n")[:-1]
    if run.returncode or len(lines) != len(questions):
        sys.exit(f"{tokens}: status {run.returncode} after {len(lines)} answers "
                 f"of {len(questions)}: {run.stdout[-200:]}{run.stderr[-200:]}")
    return lines


def joined(ids):
    return ",".join(map(str, ids))


def questions_of(row):
    """What to ask, and what the answer must be."""
    ids, ends = joined(row["ids"]), joined(row.get("ends", row["ids"]))
    decoded = row["decoded"].encode().hex()
    yield f"encode {SPECIAL} {row['text']}", ids
    yield f"encode {SPECIAL + ENDS} {row['text']}", ends
    yield f"encode {PLAIN} {row['text']}", joined(row.get("plain", row["ids"]))
    yield f"decode {SPECIAL} {ends}", decoded
    yield f"decode {PLAIN} {ends}", row.get("bare", row["decoded"]).encode().hex()


def check_streams(rows, answers):
    """Each step is whole characters, and together they are the text; a wrong
    byte in a run of byte tokens is the one thing that may look different."""
    failures = 0
    for row, answer in zip(rows, answers):
        steps = [bytes.fromhex(step) for step in answer.split("|")]
        try:
            whole = "".join(step.decode() for step in steps)
        except UnicodeDecodeError:
            whole = None
        if whole is None or (whole != row["decoded"] and
                             "\ufffd" not in row["decoded"]):
            failures += 1
            print(f"stream of {row['text']}: {steps}")
    return failures


def check(program, tokens, rows):
    pairs = [pair for row in rows for pair in questions_of(row)]
    streams = [f"stream {SPECIAL} {joined(row.get('ends', row['ids']))}" for row in rows]
    given = ask(program, tokens, [q for q, _ in pairs] + streams)
    failures = 0
    for (question, wanted), got in zip(pairs, given):
        if got != wanted:
            failures += 1
            if failures <= 5:
                print(f"{question}\n  is    {got}\n  not   {wanted}")
    failures += check_streams(rows, given[len(pairs):])
    return len(given), failures


def main():
    program, tokens, answers = sys.argv[1:]
    with open(answers) as file:
        rows = [json.loads(line) for line in file]
    asked, failures = check(program, tokens, rows)
    print(f"{asked} answers, {failures} differ")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
