#!/usr/bin/env python3
"""c-fragments.py SOURCE FOLDER: compiles the C that pages show, with the headers of the
packages in FOLDER. What a fragment takes for granted is declared here: what the page
has said before, and the application's own."""
import os
import subprocess
import sys

from page_blocks import blocks

source, folder = sys.argv[1:]
SESSION = ["mille_package *package", "mille_session *session", "int threads"]
PAGES = {
    "docs/extend.md": ("NAME.h", [
        *SESSION, "int64_t prompt_tokens", "const int32_t *ids", "float *hidden",
        "float *logits", "int32_t (*chosen)(const float *logits)"]),
    "docs/images.md": ("vit.h", [
        *SESSION, "int64_t batch", "int64_t height", "int64_t width",
        "const float *pixels", "float *last_hidden_state", "float *logits"]),
    "docs/generate.md": ("mille_generation.h", [
        "mille_package *package", "mille_generation_options options",
        "mille_generation *g", "int64_t s", "char why[512]", "const int32_t *prompt",
        "int64_t count", "int most", "mille_sampling sampling", "int32_t id",
        "int32_t end"]),
    "docs/train.md": ("mille.h", [
        "mille_package *package", "int threads", "const int32_t *ids",
        "const int32_t *labels"]),
}


failed = 0
for page, (header, names) in PAGES.items():
    found = blocks(os.path.join(source, page), "c")
    if not found:
        sys.exit(f"{page} has no block of c")
    for block in found:
        text = "\n".join(["#include <stdio.h>", f'#include "{header}"',
                          *(f"static {name};" for name in names),
                          "void shown(void) {", block, "}"])
        run = subprocess.run(
            ["cc", "-x", "c", "-std=c99", "-fsyntax-only", "-Wall", "-Werror",
             "-I" + folder, "-I" + os.path.join(folder, "next"),
             "-I" + os.path.join(folder, "vit"), "-I" + os.path.join(source, "runtime"),
             "-I" + os.path.join(source, "generation"), "-"],
            input=text, text=True)
        failed += run.returncode != 0
        print(page, "compiles" if not run.returncode else "does not compile")
named = {os.path.relpath(os.path.join(where, name), source)
         for where, _, names in os.walk(os.path.join(source, "docs"))
         for name in names if name.endswith(".md")
         and blocks(os.path.join(where, name), "c")}
if named - set(PAGES):
    sys.exit(f"{sorted(named - set(PAGES))}: pages with C that is not compiled here")
sys.exit(failed != 0)
