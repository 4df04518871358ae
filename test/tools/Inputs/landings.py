# For each landing that --stop-after prints before kernels are generated: inspect
# and compile its text, run the package, and compare the outputs byte for byte.
import pathlib
import shutil
import subprocess
import sys

mille, model, scratch = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
scratch.mkdir()
for weights in model.glob("model*.safetensors"):
    shutil.copy(weights, scratch)


def call(*arguments, **how):
    done = subprocess.run([mille, *map(str, arguments)], capture_output=True,
                          text=True, **how)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}: exit {done.returncode}\n"
                 f"{done.stderr}")
    return done.stdout


def outputs(subject, name):
    package, file = scratch / f"{name}.package", scratch / f"{name}.out"
    call("compile", subject, "-o", package, "--target=x86-64-v3")
    call("run", package, "--inputs", model / "inputs.safetensors",
         "--outputs", file)
    return file.read_bytes()


expected = outputs(model, "model")
for landing in ["import", "rewrite", "roll", "fuse", "plan"]:
    text = scratch / f"{landing}.mlir"
    text.write_text(call("compile", model, f"--stop-after={landing}",
                         "--target=x86-64-v3"))
    call("inspect", text)
    if outputs(text, landing) != expected:
        sys.exit(f"{text}: other outputs than those of {model}")
