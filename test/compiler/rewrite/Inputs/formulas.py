#!/usr/bin/env python3
"""Claims about norms and scales, each on two small models run in double:
formulas.py MILLE_OPT BOTH FOLDER. A line per claim: how far the two are apart."""
import os
import subprocess
import sys

mille_opt, both, folder = sys.argv[1:]
width = 16
stream = f"tensor<?x?x{width}xf32>"
alpha = 160 ** 0.25  # DeepNorm's of 80 layers


def drawn(name, shape, how="normal, mean = 0.0, std = 0.25"):
    kind = f"tensor<{shape}xf32>"
    return (f'  transformer.parameter @{name} : {kind} = #transformer.drawn<{how},'
            f' seed = 1, stream = "{name}", {kind}>\n')


def model(body, weights="normal, mean = 0.0, std = 0.25",
          scale="fixed, mean = 0.0, std = 0.0"):
    return ("transformer.model @m {\n" + drawn("w", f"{width}x{width}", weights) +
            drawn("v", f"{width}x{width}") + drawn("a", "1", scale) +
            drawn("g", str(width), "uniform, mean = 1.0, std = 0.25") +
            f'  func.func @forward(%x: {stream} {{transformer.name = "x"}}) -> '
            f'({stream} {{transformer.name = "y"}}) {{\n{body}'
            f"    return %y : {stream}\n  }}\n}}\n")


def norm(eps):
    return f"#transformer.norm<rms_norm, eps = {eps:.17e}, affine = weight, weight = @g>"


def unit(slots, linear="weight @w", branches=1):
    region = (f"{{\n    ^bb0(%u: {stream}):\n      %h = transformer.linear %u "
              f"{linear} : {stream} -> {stream}\n      transformer.yield %h : "
              f"{stream}\n    }}")
    regions = [region, region.replace("@w", "@v")][:branches]
    return (f"    %y = transformer.residual %x {slots} {', '.join(regions)}"
            f" : {stream}\n")


def rewritten(text, *passes):
    return subprocess.run([mille_opt, *passes, "-"], input=text, text=True,
                          capture_output=True, check=True).stdout


def distance(one, other):
    for name, text in ("one.mlir", one), ("other.mlir", other):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    words = subprocess.run([both, f"{folder}/one.mlir", f"{folder}/other.mlir",
                            f"{folder}/in", folder], check=True,
                           capture_output=True, text=True).stdout.strip()
    *verdict, number = words.split(" ")
    return " ".join(verdict), float(number)


def claim(text, one, other, least=0.0):
    verdict, number = distance(one, other)
    if least:
        verdict = f"more than {least:g}" if number > least else f"only {number:g}"
    print(f"{text}: {verdict}")


identity = model(f"    %y = transformer.affine %x scale <constant 1.0> : {stream}\n")
for eps, least in (1e-5, 1e-6), (1e-2, 1e-3):
    deep = model(unit(f"out_norm {norm(eps)[17:]} skip_scale <constant {alpha!r}>"))
    moved = rewritten(deep, "--exchange-scales")
    claim(f"N(a x + F) = N'(x + F/a), eps {eps:g} / a^2", deep, moved)
    before, after = moved.split("eps = ", 1)
    claim(f"with eps {eps:g} kept", deep,
          before + f"eps = {eps:.17e}," + after.split(",", 1)[1], least)
    claim(f"and folded, eps {eps:g}", deep,
          rewritten(moved, "--fold-branch-scales"))
ntk = model(unit("", f"weight @w scale {width ** -0.5}"), "normal, mean = 0.0, std = 1.0")
claim("NTK form is standard form with W / sqrt m", ntk,
      rewritten(ntk, "--fold-linear-scales"))
for name, slots, how in (
        ("a branch of zeros", "branch_scale [#transformer.scale<constant 0.3>]",
         "fixed, mean = 0.0, std = 0.0"),
        ("ReZero at 0", "branch_scale [#transformer.scale<learned_scalar @a>]",
         "normal, mean = 0.0, std = 0.25")):
    start = model(unit(slots), how)
    claim(f"{name} is the identity, folded", identity,
          rewritten(start, "--fold-branch-scales"))
eps, scale = 1e-3, 0.3
plain = model(unit(f"branch_norm [{norm(eps / scale ** 2)}]"))
dead = model(unit(f"branch_norm [{norm(eps)}]", f"weight @w scale {scale!r}"))
claim("a scale before a branch norm is eps / c^2", dead, plain)
claim("but for eps", dead, model(unit(f"branch_norm [{norm(eps)}]")), 1e-4)
shared = model(unit(f"in_norm [{norm(eps)}]", branches=2))
claim("one norm of two branches is the same norm twice", shared,
      model(unit(f"in_norm [{norm(eps)}, {norm(eps)}]", branches=2)))


def centred(kind, first=""):
    source = "%z" if first else "%x"
    return model(first + f"    %y = transformer.norm {source} by <{kind}, eps = 1.0e-05> : {stream}\n")


centre = f"    %z = transformer.norm %x by <layer_norm, eps = 1.0e-05> : {stream}\n"
claim("an rms norm of what has mean 0 is its layer norm",
      centred("rms_norm", centre), centred("layer_norm", centre))
claim("of what has another mean it is not", centred("rms_norm"),
      centred("layer_norm"), 1e-2)


def attention(length):
    return model(f"    %y = transformer.attend %x, %x, %x heads 1 kv_heads 1 "
                 f"head_dim {width} value_dim {width} scale 0.25 {length} mask "
                 f"bidirectional : {stream}, {stream}, {stream} -> {stream}\n")


claim("log_3(n) scales nothing at 3 keys", attention(""),
      attention("length_scale <log_keys, base = 3.0>"))
claim("log_512(n) does", attention(""),
      attention("length_scale <log_keys, base = 512.0>"), 1e-2)
claim("but counts at least 16 keys", attention("length_scale <log_keys, base = 16.0, floor = 16.0>"),
      attention(""))
