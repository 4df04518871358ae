// The promises of the room beside right numbers: the same bytes every time,
// names by content, a cache that survives damage, tiles in registers, small
// objects.
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
#include "compiler/halide/Emit.h"
#include "compiler/halide/instructions/PrefetchInstruction.h"
#include "compiler/kernels/Cache.h"
#include "compiler/kernels/ReadSpec.h"
#include "test/compiler/halide/Inputs/KernelTexts.h"
#include "test/compiler/halide/Inputs/LoadedKernel.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ELFObjectFile.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

using namespace mille;
using namespace mille::test;

namespace {

int failures = 0;
void expect(bool holds, const std::string &what) {
  if (!holds) {
    printf("%s\n", what.c_str());
    ++failures;
  }
}

std::string objectOf(const std::string &text, const Target &isa,
                     RowClass rows) {
  ParsedKernel parsed(text);
  std::string object;
  expect(!failed(generators().generate(parsed.op, isa, rows, false, object)),
         "generates");
  return object;
}

void sameBytes(const Target &isa, int turns) {
  const std::vector<std::string> texts{matmul(64, addBias),
                                       matmul(100, geluRegion), attentionText};
  std::vector<std::string> first;
  for (const std::string &text : texts)
    first.push_back(objectOf(text, isa, RowClass::many));
  for (int turn = 0; turn < turns; ++turn)
    expect(objectOf(texts[0], isa, RowClass::many) == first[0],
           "bytes of a second compile");
  std::vector<std::string> together(texts.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < texts.size(); ++i)
    threads.emplace_back(
        [&, i] { together[i] = objectOf(texts[i], isa, RowClass::many); });
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

// Halide's lowered program.
std::string statementOf(const std::string &text, const char *isa,
                        bool few = false) {
  ParsedKernel parsed(text);
  KernelSpec spec;
  std::string object, error, statement;
  if (failed(readSpec(parsed.op, spec)))
    exit(1);
  EmitOptions options = emitOptionsOf(isaNamed(isa));
  options.entry = "k";
  options.unique = "heap";
  options.rows = few ? RowClass::few : RowClass::many;
  options.statement = &statement;
  expect(emitKernel(spec, options, object, error), error);
  return statement;
}

// The accumulators are one tile in registers, whatever the epilogue. Where the
// last rows have a loop of their own, its tile has one row less.
void tiles() {
  struct {
    const char *isa;
    bool few;
    const char *words, *lastWords; // of 64 bits
  } rows[] = {{"zen4", false, "* 192]", "* 160]"},
              {"zen4", true, "* 192]", "* 160]"},
              {"x86-64-v4", false, "* 192]", "* 160]"},
              {"x86-64-v3", false, "* 48]", "* 40]"}};
  for (const auto &row : rows)
    for (const std::string &region : {addBias, geluRegion}) {
      const std::string statement =
          statementOf(matmul(192, region), row.isa, row.few);
      int found = 0;
      for (size_t at = 0;
           (at = statement.find("allocate product", at)) != std::string::npos;
           ++at) {
        std::string line = statement.substr(at, statement.find('\n', at) - at);
        ++found;
        bool tile = line.find(row.words) != std::string::npos ||
                    line.find(row.lastWords) != std::string::npos;
        expect(tile && line.find("Register") != std::string::npos,
               std::string(row.isa) + ": " + line);
      }
      expect(found > 0, "accumulators are allocated");
    }
}

// All places of a word in a text.
int countOf(const std::string &word, const std::string &text) {
  int found = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at)
    ++found;
  return found;
}

// A matmul's loops over K have no condition. They run in groups of 4 steps, or
// of 2 with few rows; some groups lie between the rows of another tile's
// epilogue. With few rows each height of a tile has a loop: all rows, one less
// and two less; or two less where rows are left over, or there is only one.
// Each step prefetches the 4 lines that a later step reads. Each group
// prefetches 2 lines of the next panel, into L2 alone where the CPU has such an
// instruction. Addresses count the weight's own elements: the next panel is
// 3072 or 3200 elements on, of 4 bytes in f32 and of 2 in bf16. Steps that fill
// no group come last.
void prefetches() {
  const std::string oddK =
      std::regex_replace(matmul(192, addBias), std::regex("x48x"), "x50x");
  struct {
    std::string text;
    bool few;
    const char *groups, *asking, *panel, *rest;
    int lines, linesOfL2, heights;
    const char *isa = "zen4";
  } rows[] = {
      {matmul(192, addBias), false, "min(", "(uint32)prefetch", "3072", "", 18,
       0, 1},
      {matmul(192, addBias), true, "min(", "(uint32)prefetch", "3072", "", 10,
       0, 5},
      {matmul(192, addBias), false, "0, 12)", "(uint32)prefetch", "3072", "",
       16, 2, 1, "sapphirerapids"},
      {pairsText, false, "min(", "(uint16)prefetch", "3072", "", 18, 0, 1},
      {oddK, false, "min(", "(uint32)prefetch", "3200", "$x, 48, 2)", 18, 0,
       1}};
  for (const auto &row : rows) {
    const std::string statement = statementOf(row.text, row.isa, row.few);
    size_t loop = statement.find(std::string(".group, ") + row.groups);
    expect(loop != std::string::npos, std::string("no groups ") + row.groups);
    int heights = 0;
    for (; loop != std::string::npos;
         loop = statement.find(".group, ", loop + 1)) {
      ++heights;
      const size_t end = statement.find_first_of("}", loop);
      const std::string body = statement.substr(loop, end - loop);
      expect(countOf(row.asking, body) == row.lines,
             std::to_string(countOf(row.asking, body)) +
                 " lines are asked for");
      expect(countOf(prefetchIntoL2Name, body) == row.linesOfL2,
             std::to_string(countOf(prefetchIntoL2Name, body)) +
                 " lines of L2 alone");
      expect(countOf("if (", body) == 0, "a group asks for a condition");
    }
    expect(heights == row.heights,
           std::to_string(heights) + " heights of tiles");
    expect(statement.find(".ahead = ") != std::string::npos &&
               statement.find(row.panel) != std::string::npos,
           "asks a panel ahead");
    expect(statement.find(row.rest) != std::string::npos,
           "steps without a group");
  }
}

// The epilogue of a tile's rows, or of their vectors where it has a polynomial,
// is interleaved with the products of the next tile. The sums are parked
// outside of the loops, and after the loops only the last tile's epilogue
// remains.
void pipelines() {
  const struct {
    const char *name;
    std::string text;
    bool few;
    const char *vectors; // of a row, by themselves; "": nothing beside products
    const char *isa = "zen4";
  } rows[] = {{"bytes", bytesText, false, "1"},
              {"few bytes", bytesText, true, "1"},
              {"bf16", pairsText, false, "1"},
              {"bytes without VNNI", bytesText, false, "", "x86-64-v4"},
              {"tile registers", bytesText, false, "", "sapphirerapids"},
              {"f32", matmul(192, geluRegion), false, "4"},
              {"f32 of AVX2", matmul(192, geluRegion), false, "", "x86-64-v3"}};
  for (const auto &row : rows) {
    const std::string statement = statementOf(row.text, row.isa, row.few),
                      name = row.name;
    const size_t park = statement.find("allocate park_heap"),
                 panels = statement.find("for (out_heap"),
                 products = statement.find(".group.row, 0, 7)"),
                 last = statement.find("rows_heap$x, 0, 6)", products);
    if (!*row.vectors) {
      expect(statement.find(".group.row") == std::string::npos,
             name + " are pipelined");
      continue;
    }
    expect(products != std::string::npos, name + ": no rows beside products");
    const std::string turns =
        std::string(".group.row < 6, ") + row.vectors + ", 1))";
    expect(statement.find(turns) != std::string::npos,
           name + ": not " + row.vectors + " of a row");
    expect(park < panels && panels < products,
           name + ": sums parked in the loops");
    expect(last != std::string::npos && products < last,
           name + ": no last rows");
  }
}

// Attention's loop over keys prefetches the values of the next tile of keys,
// once per cache line: two vectors of 16 numbers are two lines, two of 8 are
// one. In bf16 the loop reads a copy, in f32 or integers; the steps that make
// the copy prefetch rows of keys and values.
void prefetchesRows() {
  const std::string text =
      R"(func.func @f(%t: index, %p: index, %x: memref<?x192xf32>, %o: memref<?x64xf32>) {
 kernel.attention %x, %x, %x queries %t keys %t first %p outs(%o : memref<?x64xf32>)
   heads 2 kv_heads 2 head_dim 32 value_dim 32 offsets [0, 64, 128] scale 0.5 causal false
   : memref<?x192xf32>, memref<?x192xf32>, memref<?x192xf32>
 return
})";
  struct {
    std::string text;
    const char *isa, *loop, *asked;
    int lines;
  } rows[] = {{text, "x86-64-v4", "r2_heap$x", "r2_heap$x + 8)", 2},
              {text, "x86-64-v3", "r2_heap$x", "r2_heap$x + 4)", 1},
              {narrowed(text), "x86-64-v4", "r2_heap$x", "widened_value", 0},
              {narrowed(text), "cascadelake", "r2_heap$y", "value_words", 0}};
  for (const auto &row : rows) {
    const std::string statement = statementOf(row.text, row.isa);
    const size_t loop =
        std::min(statement.find(std::string(".s1.") + row.loop + ", 0"),
                 statement.size());
    const std::string body =
        statement.substr(loop, statement.find("consume mixed", loop) - loop);
    const int found = countOf("prefetch(value_heap", body);
    expect(found == row.lines,
           std::to_string(found) + " lines of a value are asked for");
    expect(body.find(row.asked) != std::string::npos,
           std::string("no ") + row.asked);
  }
  const std::string statement = statementOf(narrowed(text), "cascadelake");
  for (const char *asked : {"prefetch(key_heap", "prefetch(value_heap"})
    expect(countOf(asked, statement) == 2,
           std::string("not a line in each form: ") + asked);
}

// The allocations of a kernel that are neither on the stack nor in registers.
std::set<std::string> heapOf(const std::string &text) {
  const std::string statement = statementOf(text, "x86-64-v3");
  std::set<std::string> found;
  for (size_t at = 0;
       (at = statement.find("allocate ", at)) != std::string::npos; ++at) {
    std::string line =
        statement.substr(at + 9, statement.find('\n', at) - at - 9);
    if (line.find("] in ") == std::string::npos)
      found.insert(line.substr(0, line.find("_heap")));
  }
  return found;
}

// Kernels keep on the heap only memory that grows with the keys or with a
// stretch of them (`parts`).
void heap() {
  auto of = [](const std::string &words) {
    std::istringstream text(words);
    return std::set<std::string>(std::istream_iterator<std::string>(text), {});
  };
  struct {
    const char *name;
    const std::string &text;
    std::set<std::string> kept;
  } rows[] = {{"windows", windowed,
               of("scores scores_parts weights weights_parts kept_parts")},
              {"rotations", turned,
               of("scores scores_parts turned_key turned_query weights "
                  "weights_parts kept_parts")},
              {"distances", byDistance,
               of("scores scores_parts strip strip_parts weights weights_parts "
                  "kept_parts")},
              {"linear attention", linear,
               of("scores scores_parts strip strip_parts kept_parts")},
              {"rotate", rotate, {}},
              {"dispatch", dispatch, {}},
              {"combine", combine, {}},
              {"norms of groups", groupNorm, {}}};
  for (const auto &row : rows)
    expect(heapOf(row.text) == row.kept,
           "on the heap of " + std::string(row.name));
}

// Attention takes all keys at once or a stretch after the other, but where no
// run has more than 1024 keys there is no code for the latter.
void forms() {
  const struct {
    const char *most, *keys; // what the model says; the keys of a run
    bool inStretches;
  } rows[] = {{"", "%t", true},
              {"", "%c1024", false},
              {"", "%c1025", true},
              {"max_tokens = 512 : i64", "%t", false},
              {"max_tokens = 512 : i64", "%twice", false},
              {"max_tokens = 513 : i64", "%twice", true},
              {"max_tokens = 9223372036854775807 : i64", "%twice", true},
              {"max_batch = 512 : i64", "%t", true}};
  for (const auto &row : rows) {
    const std::string text =
        std::string("transformer.model @m attributes {") + row.most + R"(} {
 func.func @f(%b: index {kernel.size = "batch"}, %t: index {kernel.size = "tokens"},
              %x: memref<?x48xf32>, %o: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c1024 = arith.constant 1024 : index
  %c1025 = arith.constant 1025 : index
  %twice = arith.muli %t, %c2 : index
  kernel.attention %x, %x, %x queries %t keys )" +
        row.keys + R"( first %c0 outs(%o : memref<?x16xf32>)
    heads 2 kv_heads 2 head_dim 8 value_dim 8 offsets [0, 16, 32] scale 0.5 causal false
    : memref<?x48xf32>, memref<?x48xf32>, memref<?x48xf32>
  return
 }
})";
    expect((statementOf(text, "x86-64-v3").find("scores_parts") !=
            std::string::npos) == row.inStretches,
           std::string("keys ") + row.keys + " {" + row.most + "} " +
               (row.inStretches ? "not " : "") + "in stretches");
  }
}

// Objects call nothing but the runtime's allocator, and stay small.
void objects(const Target &isa) {
  struct {
    std::string text;
    uint64_t limit;
  } rows[] = {{matmul(192, addBias), 10000},
              {matmul(192, geluRegion), 16000},
              {matmul(100, geluRegion), 16000},
              {attentionText, 43000},
              {windowed, 51000},
              {linear, 33000},
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
  const bool named = argc > 2; // then only what differs between sets
  // Twelve go past a change in the digits of the number that Halide counts.
  sameBytes(isa, named ? 1 : 12);
  writeObjects(base + ".objects", isa);
  if (named) {
    printf("%d failures\n", failures);
    return failures != 0;
  }
  names();
  experts();
  tiles();
  prefetches();
  pipelines();
  prefetchesRows();
  heap();
  forms();
  cache(base + ".cache", isa);
  printf("%d failures\n", failures);
  return failures != 0;
}
