// The promises of the room beside right numbers: the same bytes every time,
// names by content, a cache that survives damage, small objects.
//
// RUN: %programs/kernel-generate %t
// RUN: python3 %S/Inputs/instructions.py %t.objects | FileCheck %s
// RUN: python3 %S/Inputs/stored_sums.py %t.objects | FileCheck %s \
// RUN:   --check-prefix=SUMS
// SUMS: attention-80.o: some loops, 0 stored sums
// SUMS-NEXT: attention-96.o: some loops, 0 stored sums
// SUMS: few-bf16.o: some loops, 0 stored sums
// CHECK: attention-bf16.o: bf16
// CHECK: attention-bytes.o: vnni, bf16
// CHECK: matmul-bf16.o: {{.*}}bf16
// CHECK: matmul-int8.o: {{.*}}vnni, bf16
// CHECK: matmul.o:
// CHECK: rows-bf16.o: bf16
// CHECK: rows-gelu.o: bf16, picks
#include "compiler/kernels/Cache.h"
#include "test/compiler/halide/Inputs/Expect.h"
#include "test/compiler/halide/Inputs/KernelTexts.h"
#include "test/compiler/halide/Inputs/LoadedKernel.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ELFObjectFile.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

using namespace mille;
using namespace mille::test;

namespace {

std::string remade(const std::string &text, const Target &isa, RowClass rows) {
  ParsedKernel parsed(text);
  std::string object;
  expect(!failed(generators().generate(parsed.op, isa, rows, false, object)),
         "generates");
  return object;
}

// The first object that the process makes of a kernel.
const std::string &objectOf(const std::string &text, const Target &isa,
                            RowClass rows) {
  static std::map<std::pair<RowClass, std::string>, std::string> all;
  std::string &object = all[{rows, isa.name + text}];
  if (object.empty())
    object = remade(text, isa, rows);
  return object;
}

void sameBytes(const Target &isa) {
  const std::vector<std::string> texts{matmul(64, addBias),
                                       matmul(100, geluRegion), attentionText};
  std::vector<std::string> first;
  for (const std::string &text : texts)
    first.push_back(objectOf(text, isa, RowClass::many));
  // Twelve go past a change in the digits of the number that Halide counts.
  for (int turn = 0; turn < 12; ++turn)
    expect(remade(texts[0], isa, RowClass::many) == first[0],
           "bytes of a second compile");
  std::vector<std::string> together(texts.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < texts.size(); ++i)
    threads.emplace_back(
        [&, i] { together[i] = remade(texts[i], isa, RowClass::many); });
  for (std::thread &thread : threads)
    thread.join();
  expect(together == first, "bytes of compiles in several threads");
}

std::string nameOf(const std::string &text) {
  return ParsedKernel(text).info.name;
}

void names() {
  expect(nameOf(matmul(64, inside)) == nameOf(matmul(64, hoisted)),
         "a hoisted constant changes the name");
  expect(nameOf(matmul(64, addBias)) ==
             nameOf("// a comment\n\n" + matmul(64, addBias)),
         "the place of an op changes its name");
  std::set<std::string> all{nameOf(matmul(64, addBias)),
                            nameOf(matmul(65, addBias)),
                            nameOf(matmul(64, addBias, 80)),
                            nameOf(matmul(64, inside)), nameOf(attentionText)};
  expect(all.size() == 5, "different kernels share a name");
}

// A matmul by experts has a kernel of its own, which computes one expert; on a
// device each work group finds its expert.
void experts() {
  auto text = [](const std::string &starts, const std::string &weight,
                 const std::string &bias) {
    return "func.func @f(%in: memref<?x48xf32>, %w: " + weight +
           ", %s: memref<6xi32>, %bias: " + bias +
           ", %o: memref<?x64xf32>) {\n kernel.matmul %in, %w " + starts +
           "extras(%bias : " + bias +
           ") outs(%o : memref<?x64xf32>) accumulators 1 {\n^bb0(%a: f32, %b: "
           "f32):\n" +
           addBias + " } : memref<?x48xf32>, " + weight + "\n return\n}\n";
  };
  ParsedKernel one(text("", "memref<1x48x64xf32>", "memref<64xf32>"));
  ParsedKernel all(text("starts %s : memref<6xi32> ", "memref<5x1x48x64xf32>",
                        "memref<5x64xf32>"));
  expect(one.info.name != all.info.name,
         "a matmul by experts has a plain one's kernel");
  expect(all.info.bufferCount == 4, "a kernel of one expert has no starts");
}

// The sums of many rows are whole, but where a core waits for L3 and a panel
// takes more than a quarter of L2.
void pieces() {
  auto tileOf = [](const std::string &inner, const char *target) {
    const std::string in = "memref<?x" + inner + "xf32>",
                      weight = "memref<1x" + inner + "x48xf32>";
    ParsedKernel parsed("func.func @f(%in: " + in + ", %w: " + weight +
                        ", %o: memref<?x48xf32>) {\n kernel.matmul %in, %w "
                        "outs(%o : memref<?x48xf32>) accumulators 1 {\n"
                        "^bb0(%a: f32):\n kernel.yield %a : f32\n } : " +
                        in + ", " + weight + "\n return\n}\n");
    return generators().tiles(parsed.op, isaNamed(target)).front();
  };
  const std::string tile = "8 rows x 48 columns, ";
  expect(tileOf("1364", "cascadelake") ==
             tile + "1364 steps of K at once, of few rows in pieces of 682",
         "a quarter of L2");
  expect(tileOf("1536", "cascadelake") ==
             tile + "1536 steps of K in pieces of 512, of few rows of 768",
         "more than a quarter of L2");
  expect(tileOf("3072", "zen4") ==
             tile + "3072 steps of K at once, of few rows in pieces of 768",
         "a core that does not wait");
}

void cache(const std::string &folder, const Target &isa) {
  namespace fs = std::filesystem;
  fs::remove_all(folder);
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  ParsedKernel parsed(matmul(64, addBias));
  std::string fresh, kept, remade;
  generators().generate(parsed.op, isa, RowClass::few, true, fresh);
  std::vector<fs::path> entries;
  for (const auto &entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      entries.push_back(entry.path());
  expect(entries.size() == 1, "one entry in the cache");
  if (entries.empty())
    return;
  generators().generate(parsed.op, isa, RowClass::few, true, kept);
  expect(kept == fresh, "the cache gives back what it got");
  // A marked entry shows that it is read; a damaged one is not.
  {
    std::fstream file(entries[0],
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200);
    file.put('\x55');
  }
  generators().generate(parsed.op, isa, RowClass::few, true, remade);
  expect(remade == fresh, "a damaged entry is made again");
  fs::resize_file(entries[0], 100);
  generators().generate(parsed.op, isa, RowClass::few, true, remade);
  expect(remade == fresh, "a cut entry is made again");
  std::string key = entries[0].stem().string(), bytes;
  expect(readKernelCache(key, bytes) && bytes == fresh, "and kept");
  setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
  expect(!failed(generators().generate(parsed.op, isa, RowClass::few, true,
                                       remade)) &&
             remade == fresh,
         "a cache that cannot be written is no error");
  fs::remove_all(folder);
}

// Objects call nothing but the runtime's allocator, and stay small.
void objects(const Target &isa) {
  struct {
    std::string text;
    uint64_t limit;
  } rows[] = {{matmul(192, addBias), 10000},
              {matmul(192, geluRegion), 16000},
              {matmul(100, geluRegion), 16000},
              {attentionText, 31000},
              {windowed, 36000},
              {linear, 24000},
              {rotate, 4000},
              {dispatch, 4000},
              {combine, 4000},
              {groupNorm, 8000}};
  for (const auto &row : rows) {
    std::string object = objectOf(row.text, isa, RowClass::many);
    auto file = llvm::object::ObjectFile::createObjectFile(
        llvm::MemoryBufferRef(object, "kernel.o"));
    if (!file) {
      expect(false, "an object that cannot be read");
      llvm::consumeError(file.takeError());
      continue;
    }
    for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
      auto flags = symbol.getFlags();
      if (!flags || !(*flags & llvm::object::SymbolRef::SF_Undefined))
        continue;
      llvm::StringRef name = llvm::cantFail(symbol.getName());
      expect(name.empty() || name == "halide_malloc" || name == "halide_free",
             "a kernel calls " + name.str());
    }
    uint64_t text = 0;
    for (const llvm::object::SectionRef &section : (*file)->sections())
      if (section.isText())
        text += section.getSize();
    printf("text %lu of %lu bytes\n", (unsigned long)text,
           (unsigned long)row.limit);
    expect(text <= row.limit,
           "an object of " + std::to_string(text) + " bytes of code");
  }
}

// Writes an object for each type and kind of kernel, for a disassembler.
void writeObjects(const std::string &folder, const Target &isa) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const struct {
    const char *name;
    std::string text;
    RowClass rows = RowClass::many;
  } kernels[] = {{"matmul", matmul(100, geluRegion)},
                 {"matmul-bf16", pairsText},
                 {"few-bf16", residualText, RowClass::few},
                 {"matmul-int8", bytesText},
                 {"quantize-bf16", quantizeText},
                 {"attention", attentionText},
                 {"attention-bf16", narrowed(attentionText)},
                 {"attention-bytes", withByteScores(narrowed(attentionText))},
                 {"attention-80", attentionOf(80)},
                 {"attention-96", attentionOf(96)},
                 {"rows-bf16", narrowed(groupNorm)},
                 {"rows-gelu", geluText}};
  for (const auto &[name, text, rows] : kernels)
    std::ofstream(folder + "/" + name + ".o", std::ios::binary)
        << objectOf(text, isa, rows);
}

} // namespace

int main(int argc, char **argv) {
  const std::string base = argc > 1 ? argv[1] : "/tmp/mille-kernel-generate";
  const Target &isa = isaNamed(argc > 2 ? argv[2] : "zen4");
  objects(isa);
  writeObjects(base + ".objects", isa);
  if (argc <= 2) { // the rest is alike for all sets
    sameBytes(isa);
    names();
    experts();
    pieces();
    cache(base + ".cache", isa);
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
