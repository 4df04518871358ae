# How lit runs the tests: tools, substitutions, features, environment.
# No test logic, and nothing outside the build tree is written.
#
# Second keys, by environment: ROUNDTRIP=1 prints and reads back every module
# that mille-opt takes; THREADS and GUARD are passed on to the tests.
import glob
import os
import shutil

import lit.formats

config.name = "mille"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".c", ".cpp", ".ll"]
config.excludes = ["Inputs", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))

bin_folder = os.path.join(config.build, "bin")
programs = os.path.join(config.build, "test", "programs")
mille_opt = os.path.join(bin_folder, "mille-opt")
if os.environ.get("ROUNDTRIP") == "1":
    # One word, as tests hand it to scripts too.
    wrapper = os.path.join(config.test_exec_root, "mille-opt-roundtrip")
    with open(wrapper, "w") as script:
        script.write(f'#!/bin/sh\nexec {mille_opt} --verify-roundtrip "$@"\n')
    os.chmod(wrapper, 0o755)
    mille_opt = wrapper

# Longer names first: lit replaces in this order.
config.substitutions += [
    ("%mille-opt", mille_opt),
    ("%mille-emulate", os.path.join(bin_folder, "mille-emulate")),
    ("%mille-lsp", os.path.join(bin_folder, "mille-lsp")),
    ("%mille-reduce", os.path.join(bin_folder, "mille-reduce")),
    ("%mille-spec-page", os.path.join(bin_folder, "mille-spec-page")),
    ("%mille", os.path.join(bin_folder, "mille")),
    ("%programs", programs),
    ("%refuses", "python3 " + os.path.join(config.test_source_root, "Inputs",
                                            "refuses.py")),
    ("%tensors", os.path.join(config.test_source_root, "Inputs", "tensors.py")),
    ("%cxx", config.cxx),
    ("%cc", config.cc),
    ("%source", config.source),
    ("%build", config.build),
]

scratch = os.path.join(config.test_exec_root, "scratch")
os.makedirs(scratch, exist_ok=True)
config.environment.update(
    PATH=os.pathsep.join([bin_folder, config.llvm_tools, "/usr/bin", "/bin"]),
    HOME=scratch,
    XDG_CACHE_HOME=os.path.join(config.test_exec_root, "cache"),
    LC_ALL="C",
    # LLVM's allocators poison what its uninstrumented half then uses.
    ASAN_OPTIONS="detect_leaks=0:allow_user_poisoning=0",
    UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1",
)
for key in ["MILLE_PTXAS", "ROUNDTRIP", "ASAN", "GUARD", "THREADS", "LLVM_PROFILE_FILE"]:
    if key in os.environ:
        config.environment[key] = os.environ[key]

# Features: the tools that are built, what this processor can do, sanitizers.
for tool in ["mille", "mille-opt"]:
    if os.path.exists(os.path.join(bin_folder, tool)):
        config.available_features.add(tool)
if os.path.exists(os.path.join(programs, "kernel-benchmarks")):
    config.available_features.add("google-benchmark")
if glob.glob(os.path.join(config.build, "python", "mille", "_mille*.so")):
    config.available_features.add("python-module")
try:
    with open("/proc/cpuinfo") as cpu:
        flags = set(next(l for l in cpu if l.startswith("flags")).split())
except (OSError, StopIteration):
    flags = set()
v3 = {"avx2", "fma", "f16c", "bmi2"}
v4 = v3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
cascadelake = v4 | {"avx512_vnni"}
zen4 = cascadelake | {"avx512_bf16", "avx512ifma", "avx512vbmi", "avx512_vbmi2",
                      "avx512_bitalg"}
zen5 = zen4 | {"avx_vnni"}
sapphirerapids = zen4 | {"amx_tile", "amx_bf16", "amx_int8"}
isas = [name for name, needed in [("sapphirerapids", sapphirerapids), ("zen5", zen5), ("zen4", zen4), ("cascadelake", cascadelake),
                                  ("x86-64-v4", v4), ("x86-64-v3", v3)]
        if needed <= flags]
config.available_features.update(isas)
# The best of this machine by name: what it lacks is then emulated.
config.substitutions.append(("%isa", isas[0] if isas else "x86-64-v3"))
if config.libfuzzer == "ON":
    config.available_features.add("libfuzzer")
for name in ["address", "thread"]:
    if "-fsanitize=" in config.sanitize and name in config.sanitize:
        config.available_features.add(name + "-sanitizer")
# NVIDIA's assembler, as compiler/nvvm/Ptxas.h looks for it, and its disassembler: this
# machine's, or those of tools/setup.sh.
for tool in ["ptxas", "nvdisasm"]:
    variable = "MILLE_" + tool.upper()
    found = shutil.which(os.environ.get(variable) or tool, path=os.pathsep.join(
        [os.environ.get("PATH", ""), "/usr/local/cuda/bin",
         os.path.join(os.path.dirname(config.test_source_root), "third_party/cuda/nvidia/cu13/bin")]))
    if found:
        config.available_features.add(tool)
        config.environment[variable] = found
# The browser in which pages are opened (tools/setup.sh tests), without a screen.
for tool in ["chromium-headless-shell", "chromium"]:
    browser = shutil.which(tool)
    if browser:
        config.available_features.add("chromium")
        config.substitutions.append(("%browser", browser))
        break
if os.geteuid() == 0:
    config.available_features.add("root")

# The slowest takes 50 s on two quiet cores of Zen 5, three times as long on others;
# the limit is for what hangs. Without psutil lit cannot stop one.
try:
    import psutil  # noqa: F401

    lit_config.maxIndividualTestTime = 900
except ImportError:
    lit_config.note("python3-psutil is missing: tests run without a time limit")
