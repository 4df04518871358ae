"""The workloads: which cases each has. Every function takes cases.Bench and gives
{"title", "about", "tables"}. Must not know how a case is measured.
"""
import os
import subprocess
import sys
import time

import cases
import models
import rounds
from rounds import Refused
from tables import threads_told


def encoder(bench, title, model, pairs, about):
    """A table for each type and each (tokens, threads)."""
    options, tables = bench.options, []
    for dtype in options.dtypes:
        for tokens, threads in pairs:
            case = bench.case(model, dtype, 1, tokens, threads)
            tables.append(bench.table(
                "%s, %s, batch 1, %d tokens, %s" % (
                    title, dtype, tokens, threads_told(threads)),
                case))
            note_speed_up(tables)
    return {"title": title, "about": about, "tables": tables}


def note_speed_up(tables):
    """Notes Mille's speed-up over one thread under a table of several threads."""
    last = tables[-1]
    for table in tables[:-1]:
        if (table["threads"], table["tokens"], table["dtype"]) != (
                1, last["tokens"], last["dtype"]) or last["threads"] == 1:
            continue
        times = [rounds.summary(row["rounds"])["median"] for one in (table, last)
                 for row in one["rows"] if row["name"] == "mille"
                 and "refused" not in row]
        if len(times) == 2:
            last["notes"] = ["mille on %d threads is %.2f times as fast as on 1."
                             % (last["threads"], times[0] / times[1])]


def sizes(options, tokens, threads):
    """(tokens, threads): every length on one thread, one on each other number."""
    tokens = options.tokens or tokens
    threads = options.threads or threads
    middle = tokens[len(tokens) // 2]
    return ([(one, 1) for one in tokens if 1 in threads]
            + [(middle, many) for many in threads if many != 1])


def named(bench, name):
    """`name`, or the folder's where --model gives another model."""
    given = bench.options.model
    return os.path.basename(os.path.abspath(given)) if given else name


def bert(bench):
    model, about = bench.options.model, "The folder that --model names."
    if not model:
        model = models.random_folder(bench.options.work, "bert-base",
                                     models.BERT_BASE)
        about = ("12 layers of 768 channels, 12 heads, feed-forward of 3072, random "
                 "weights with biases and norms away from their defaults.")
    return encoder(bench, named(bench, "BERT-base"), model,
                   sizes(bench.options, [32, 128, 512], [1, 2]), about)


def disturbed(bench):
    """One thread and two while another process keeps the second core busy."""
    model = bench.options.model or models.random_folder(
        bench.options.work, "bert-base", models.BERT_BASE)
    tokens, tables = (bench.options.tokens or [128])[0], []
    dtype, second = bench.options.dtypes[0], rounds.cores(2)[1:]
    shares = []
    for threads, busy in [(1, False), (1, True), (2, True)]:
        case = bench.case(model, dtype, 1, tokens, threads)
        begin = time.monotonic()
        loop = subprocess.Popen(
            [sys.executable, "-c", "while True: pass"],
            preexec_fn=lambda: os.sched_setaffinity(0, second)
        ) if busy else None
        try:
            tables.append(bench.table("%s, %s, %d tokens, %s%s" % (
                named(bench, "BERT-base"), dtype, tokens, threads_told(threads),
                ", the second core busy" if busy else ""), case))
        finally:
            if loop:
                loop.kill()
                _, loop.returncode, used = os.wait4(loop.pid, 0)
                shares.append((used.ru_utime + used.ru_stime)
                              / (time.monotonic() - begin))
    note_speed_up(tables)
    for table, share in zip(tables[1:], shares):
        table.setdefault("notes", []).append(
            "the loop had %.0f %% of the second core." % (100 * share))
    return {"title": "A busy core", "tables": tables, "about":
            "One thread, then one and two while a loop of another process runs on the "
            "second core; the peak is that of these minutes."}


def opencl(bench):
    """The same model by the CPU's code and on a device, beside torch on a GPU."""
    model = bench.options.model or models.random_folder(
        bench.options.work, "bert-base", models.BERT_BASE)
    modules = {cases.PEERS[name][0] for name in bench.options.peers}
    names = [name for name, (module, _) in cases.ON_DEVICES.items()
             if module in modules]
    tokens = (bench.options.tokens or [128])[0]
    threads = (bench.options.threads or [len(os.sched_getaffinity(0))])[-1]
    tables = [bench.table("%s, %s, batch 1, %d tokens, on devices" % (
        named(bench, "BERT-base"), dtype, tokens),
        bench.case(model, dtype, 1, tokens, threads), names=names)
        for dtype in bench.options.dtypes]
    return {"title": "OpenCL", "tables": tables, "about":
            "`--target=opencl` beside the CPU's code on all cores. Where PoCL is the "
            "device, both have the same cores. Inputs and outputs are in the host's "
            "memory; the share is of the peak of the row's own device."}


def minilm(bench):
    model, about = models.minilm(bench.options.work, bench.options.model)
    return encoder(bench, named(bench, "MiniLM"), model,
                   sizes(bench.options, [16, 64, 256], [1]),
                   "6 layers of 384 channels, 12 heads, feed-forward of 1536: %s."
                   % about)


def deep(bench):
    options, tables = bench.options, []
    for dtype in options.dtypes:
        for layers in options.layers:
            # Only f32 varies the depth; one depth is enough for other types.
            if dtype != "f32" and layers != 100 and len(options.layers) > 1:
                continue
            model = models.deep(options.work, options.mille, layers)
            case = bench.case(model, dtype, 1, (options.tokens or [64])[0], 1)
            table = bench.table(
                "Deep and narrow, %d layers, %s, %d tokens, 1 thread" % (
                    layers, dtype, case["tokens"]), case, paired=True)
            tables.append(dict(table, deep=True))
    return {"title": "Deep and narrow", "tables": tables, "about":
            "Post-norm layers of 256 channels, 4 heads, feed-forward of 1024, the "
            "residual stream scaled by DeepNorm's (2 L)^(1/4), its first weights; "
            "a spec of Mille's, from whose file the peers read. JAX and IREE are "
            "given one layer and a scan, the others every layer. Peers run one at a "
            "time beside mille. The first result includes reading the peer's own "
            "file or the weights, and compiling; mille compiles before, see there."}


def compiling(bench):
    """Seconds of `mille compile`, for this machine's instruction set alone."""
    options = bench.options
    folder = os.path.join(options.work, "made", "compiling")
    chosen, rows = [(named(bench, ""), options.model)], []
    if not options.model:
        chosen = [("BERT-base", models.random_folder(options.work, "bert-base",
                                                     models.BERT_BASE)),
                  ("MiniLM", models.minilm(options.work)[0])]
        chosen += [("deep and narrow, %d layers" % layers,
                    models.deep(options.work, options.mille, layers))
                   for layers in options.layers]
    for name, model in chosen:
        given = ["compile", model, "--target=host", "--name=model"]
        cases.say("compiling " + name)
        rows.append({
            "name": name,
            "anew": seconds_of(bench, *given, "--no-cache", "-o", folder),
            "cached": seconds_of(bench, *given, "-o", folder),
            "program": seconds_of(bench, *given, "--stop-after=lower"),
            "library_bytes": os.path.getsize(os.path.join(folder, "model.so")),
            "weights_bytes": os.path.getsize(os.path.join(folder,
                                                          "model.weights"))})
    return {"title": "Compiling", "tables": [{
        "title": "mille compile, f32, for one instruction set", "compiling": rows}],
        "about": "All of it with an empty and with a warm cache of kernels, and "
                 "what is left without making kernels and without packing and "
                 "writing weights. The shared library has the kernels and the "
                 "runtime. What peers take is the last column of the deep tables."}


def seconds_of(bench, *arguments):
    start = time.perf_counter()
    bench.mille(*arguments)
    return time.perf_counter() - start


def padded(bench):
    model, about = models.minilm(bench.options.work, bench.options.model)
    tokens = (bench.options.tokens or [128])[-1]
    lengths = [max(1, tokens * (index + 1) // 8) for index in range(8)]
    tables = []
    for dtype in bench.options.dtypes:
        for threads in bench.options.threads or [1]:
            both = [bench.table(
                "Batch of 8 x %d, %s, %s, %s" % (
                    tokens, what, dtype, threads_told(threads)),
                bench.case(model, dtype, 8, tokens, threads, given))
                for what, given in [("padding computed", None),
                                    ("padding masked", lengths)]]
            both[1]["notes"] = gains(*both)
            tables += both
    return {"title": "Padded batch", "tables": tables, "about":
            "%s (%s), sequences of %s tokens in a batch of 8 x %d. The "
            "first table of a type computes all rows, without a mask; the second "
            "gives the mask, and its GFLOP/s count real tokens only." % (
                named(bench, "MiniLM"), about, ", ".join(map(str, lengths)), tokens)}


def gains(computed, masked):
    notes = []
    for full, cut in zip(computed["rows"], masked["rows"]):
        if "refused" not in full and "refused" not in cut:
            notes.append("%s: with the mask %.2f times as fast as computing the "
                         "padding." % (full["name"], rounds.summary(
                             full["rounds"])["median"] / rounds.summary(
                                 cut["rounds"])["median"]))
    return notes


def cold(bench):
    """From the start of a process to the first number of its first result."""
    model, about = models.minilm(bench.options.work, bench.options.model)
    case = bench.case(model, "f32", 1, (bench.options.tokens or [64])[0], 1)
    commands = {"mille": first_result_in_c(bench, case)}
    for name, (module, variant) in cases.PEERS.items():
        if name in bench.options.peers:
            row = "mille from Python" if name == "mille" else name
            commands[row] = in_python(bench, case, module, variant)
    seconds = {name: [] for name in commands}
    refused = {}
    for turn in range(bench.options.rounds + 1):
        for name, command in commands.items():
            # Two runs are enough if one takes seconds.
            if name in refused or (len(seconds[name]) > 1
                                   and min(seconds[name]) > 2):
                continue
            try:
                took, _ = rounds.seconds_to_first_line(command(), 1)
                if turn:  # the first is to have files read and caches made
                    seconds[name].append(took)
            except Refused as reason:
                refused[name] = str(reason)
    rows = [{"name": name, "refused": refused[name]} if name in refused else
            {"name": name, "seconds": seconds[name]} for name in commands]
    title = ("%s, f32, %d tokens: from the start of a process to its first result"
             % (named(bench, "MiniLM"), case["tokens"]))
    return {"title": "First result of a cold process", "about":
            "%s. Files are in the page cache, compiled forms on disk (Mille's "
            "package, IREE's module, inductor's cache); peers by their Python "
            "packages." % about, "tables": [{"title": title, "cold": rows}]}


def in_python(bench, case, module, variant):
    def command():
        given = dict(case, variant=variant)
        if module == "mille":
            given["package"] = bench.compiled(case["model"], "f32")
        path = os.path.join(case["work"], "cold-%s-%s.json" % (module, variant))
        with open(path, "w") as file:
            file.write(cases.json.dumps(given))
        return [sys.executable, os.path.join(rounds.HERE, "worker.py"), module,
                str(rounds.cores(1)[0]), path]
    return command


def first_result_in_c(bench, case):
    """A C program with the package's archive linked in."""
    def command():
        package = bench.compiled(case["model"], "f32")
        program = os.path.join(package, "first_result")
        built = subprocess.run(
            ["cc", "-O2", "-I" + package, os.path.join(rounds.HERE,
                                                       "first_result.c"),
             os.path.join(package, "model.a"), "-lm", "-lpthread", "-o", program],
            capture_output=True, text=True)
        if built.returncode:
            raise Refused(built.stderr[-300:])
        return [program, os.path.join(package, "model.weights"), case["ids"],
                str(case["tokens"])]
    made = []

    def once():
        if not made:
            made.append(command())
        return made[0]
    return once


KERNELS = ("matmul-768-3072|matmul-768-3072-gelu|matmul-3072-768-residual|"
           "matmul-768-3072-streaming|attention-.*|norm-768|quantize-.*")


def kernels(bench):
    """Runs Google Benchmark for the best instruction set of this machine."""
    program = os.path.join(os.path.dirname(bench.options.mille), os.pardir, "test",
                           "programs", "kernel-benchmarks")
    if not os.path.exists(program):
        raise Refused("%s is not built: ninja kernel-benchmarks" %
                      os.path.normpath(program))
    listed = output_of([program, "--benchmark_list_tests"]).split()
    isa = listed[0].split("/")[2]
    chosen = bench.options.kernels or KERNELS
    cases.say("kernels of " + isa)
    report = cases.json.loads(output_of([
        program, "--benchmark_format=json", "--benchmark_min_time=0.05",
        "--benchmark_filter=^(%s)/(%s)/%s/" % (
            chosen, "|".join(bench.options.dtypes), isa)]))
    rows = []
    for one in report["benchmarks"]:
        name, dtype, _, size = one["name"].split("/")
        computes = "GFLOPs" in one
        rows.append({
            "name": name, "dtype": dtype, "size": size.replace(":", " "),
            "us": one["us"], "rate": one["GFLOPs" if computes else "GB/s"],
            "computes": computes,
            "share": one.get("peak%" if computes else "bandwidth%", 0) / 100,
            "ceiling": one.get("peak" if computes else "bandwidth", 0)})
    return {"title": "Kernels", "about":
            "One core. What computes is a share of registers of the same type right "
            "beside each task, what moves a share of a plain loop over the same "
            "bytes; `streaming` reads its weights from memory.",
            "tables": [{"title": "Kernels for %s" % isa, "kernels": rows}]}


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Refused(" ".join(done.stderr.split())[-300:])
    return done.stdout


ALL = {"bert": bert, "minilm": minilm, "deep": deep, "padded": padded,
       "disturbed": disturbed, "opencl": opencl, "cold": cold, "compile": compiling,
       "kernels": kernels}
