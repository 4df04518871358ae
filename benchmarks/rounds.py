"""Peers measured in rounds: in each, every peer has one turn of some runs, in an
order that moves on by one. Each lives in a process of its own that stands still
(SIGSTOP) while another has its turn, so that no thread that waits by spinning
takes a core. Must not know models or pages.
"""
import json
import os
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Refused(Exception):
    """A peer does not support a case; the text has the reason."""


def cores(threads):
    """The first cores that this process may run on, one for each thread."""
    allowed = sorted(os.sched_getaffinity(0))
    if threads > len(allowed):
        raise Refused("%d threads but %d cores" % (threads, len(allowed)))
    return allowed[:threads]


class Worker:
    """The process of one peer, on the cores of a number of threads."""

    def __init__(self, peer, threads, log):
        self.log = open(log, "a")
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "worker.py"), peer,
             ",".join(map(str, cores(threads)))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
            text=True, start_new_session=True)

    def ask(self, word, argument):
        """Wakes the process for one answer, then stops it again."""
        os.killpg(self.process.pid, signal.SIGCONT)
        try:
            self.process.stdin.write(json.dumps({word: argument}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Refused("its process ended with status %s; see %s" % (
                self.process.wait(), self.log.name))
        os.killpg(self.process.pid, signal.SIGSTOP)
        answer = json.loads(line)
        if "refused" in answer:
            raise Refused(answer["refused"])
        return answer

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()


class Workers:
    """A worker for each peer, variant and number of threads, kept for later."""

    def __init__(self, work):
        self.work, self.all = work, {}

    def open(self, peer, variant, case):
        """The worker with the case open, and its answer."""
        key = peer, variant, case["threads"]
        if key not in self.all:
            os.makedirs(self.work, exist_ok=True)
            self.all[key] = Worker(peer, case["threads"], os.path.join(
                self.work, "%s.log" % peer))
        try:
            return self.all[key], self.all[key].ask(
                "open", dict(case, variant=variant))
        except Refused:
            self.drop(key)
            raise

    def drop(self, key):
        self.all.pop(key).close()

    def close(self):
        for key in list(self.all):
            self.drop(key)


# A peer that is so many times slower than the fastest runs for one round only.
SLOW = 5


def measure(workers, rounds, seconds, between):
    """name -> a list of times in ms per round; for slow peers the first round only.
    between() is called before the first, in the middle and after the last."""
    took = {name: worker.ask("run", 1)["ms"][0] * 1e-3
            for name, worker in workers.items()}
    counts = {name: max(1, min(50, int(seconds / max(one, 1e-6))))
              for name, one in took.items()}
    slow = {name for name, one in took.items() if one > SLOW * min(took.values())}
    times = {name: [] for name in workers}
    names = list(workers)
    for number in range(rounds):
        if number in (0, (rounds + 1) // 2):
            between()
        for name in names[number % len(names):] + names[:number % len(names)]:
            if number == 0 or name not in slow:
                times[name].append(workers[name].ask("run", counts[name])["ms"])
    between()
    return times


def summary(rounds):
    """Median and quartiles of all runs."""
    times = sorted(time for one in rounds for time in one)
    return {"median": statistics.median(times), "q1": times[len(times) // 4],
            "q3": times[3 * len(times) // 4], "runs": len(times)}


def ratio(rounds, beside):
    """The median over rounds of the time relative to that of `beside`."""
    return statistics.median(
        statistics.median(mine) / statistics.median(theirs)
        for mine, theirs in zip(rounds, beside))


def seconds_to_first_line(command, threads, environment=None):
    """From the start of the process to the first line that it prints."""
    chosen = cores(threads)
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=dict(os.environ, **(environment or {})),
        preexec_fn=lambda: os.sched_setaffinity(0, chosen))
    line = process.stdout.readline()
    took = time.perf_counter() - start
    _, errors = process.communicate()
    if process.returncode or not line:
        raise Refused(" ".join(errors.split())[-300:])
    return took, line.strip()
