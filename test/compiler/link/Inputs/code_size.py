"""code_size.py MILLE MODEL FOLDER LIMIT: the kilobytes of a model's code and constants in
bytes' kernels, for each CPU that Mille knows. Fails where they are more than LIMIT."""
import os
import re
import subprocess
import sys

mille, model, folder, limit = sys.argv[1:]
devices = subprocess.run([mille, "devices"], check=True, capture_output=True, text=True).stdout
cpus = re.findall(r"^  kernels +(\S+)", devices, re.M)
assert "x86-64-v3" in cpus and "x86-64-v4" in cpus, devices
for cpu in cpus:
    package = os.path.join(folder, cpu)
    subprocess.run([mille, "compile", model, "-o", package, "--name=model", "--target=" + cpu,
                    "--dtype=int8", "--weights=random:1"], check=True)
    out = subprocess.run(["llvm-size", os.path.join(package, "model.so")], check=True,
                         capture_output=True, text=True).stdout
    size = int(re.search(r"^ *([0-9]+)", out.splitlines()[1])[1]) / 1024
    print("%s: %.0f KB" % (cpu, size))
    assert size <= int(limit), "%s: %.0f KB, of %s" % (cpu, size, limit)
