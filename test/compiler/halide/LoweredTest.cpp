// What Halide's lowered programs show: register tiles, loops without
// conditions, prefetches, what lies on the heap, and which forms attention has.
//
// RUN: %programs/kernel-lowered
#include "compiler/halide/Emit.h"
#include "compiler/halide/instructions/PrefetchInstruction.h"
#include "compiler/kernels/ReadSpec.h"
#include "test/compiler/halide/Inputs/Expect.h"
#include "test/compiler/halide/Inputs/KernelTexts.h"
#include "test/compiler/halide/Inputs/LoadedKernel.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

using namespace mille;
using namespace mille::test;

namespace {

// Halide's lowered program.
std::string statementOf(const std::string &text, const char *isa,
                        bool few = false) {
  ParsedKernel parsed(text);
  KernelSpec spec;
  std::string statement, error;
  if (failed(readSpec(parsed.op, spec)))
    exit(1);
  EmitOptions options = emitOptionsOf(isaNamed(isa));
  options.entry = "k";
  options.unique = "heap";
  options.rows = few ? RowClass::few : RowClass::many;
  options.lowered = true;
  expect(emitKernel(spec, options, statement, error), error);
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
// and two less; or two less where rows are left over, or there is only one. So
// it is for all rows of a small weight, with one copy: all, one less, only one.
// Each step prefetches the 4 lines that a later step reads, but not for Zen 4
// and 5, whose own prefetcher does. Each group prefetches 2 lines of the next
// panel, or 3 for Zen 4 and 5 with few rows, into L2 alone where the CPU has
// such an instruction. An address counts elements of the weight: the next
// panel is 3072 or 3200 elements on, of 4 bytes in f32 and 2 in bf16; of few
// tiles on a Zen 4 it is their own. Steps that fill no group come last.
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
      {matmul(192, addBias), false, "min(", "(uint32)prefetch", "3072", "", 2,
       0, 1},
      {matmul(192, addBias), true, "min(", "(uint32)prefetch", "3072", "", 3, 0,
       5},
      {matmul(192, addBias), true, "min(", "(uint32)prefetch", "3072", "", 3, 0,
       5, "zen5"},
      {matmul(64, addBias), false, "min(", "(uint32)prefetch", "3072", "", 2, 0,
       3},
      {matmul(192, addBias), false, "min(", "(uint32)prefetch", "3072", "", 18,
       0, 1, "x86-64-v4"},
      {matmul(192, addBias), true, "min(", "(uint32)prefetch", "3072", "", 10,
       0, 5, "x86-64-v4"},
      {matmul(64, addBias), false, "min(", "(uint32)prefetch", "3072", "", 10,
       0, 3, "x86-64-v4"},
      {matmul(192, addBias), false, "0, 12)", "(uint32)prefetch", "3072", "",
       16, 2, 1, "sapphirerapids"},
      {pairsText, false, "min(", "(uint16)prefetch", "3072", "", 2, 0, 1},
      {oddK, false, "min(", "(uint32)prefetch", "3200", "$x, 48, 2)", 2, 0, 1}};
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
    const size_t ahead = statement.find(".ahead = ");
    const bool asksTiles =
        countOf("select(", statement.substr(ahead, statement.find('\n', ahead) -
                                                       ahead)) > 0;
    expect(asksTiles == (row.few && row.isa == std::string("zen4")),
           "how many tiles read a panel is asked");
    expect(statement.find(row.rest) != std::string::npos,
           "steps without a group");
  }
}

// A matmul of bytes with a polynomial, of K values that are steps of four.
std::string bytesOfGelu(int K) {
  const auto replaced = [](const std::string &text, const char *what,
                           const std::string &by) {
    return std::regex_replace(text, std::regex(what), by);
  };
  std::string text =
      replaced(bytesText, "x48xui8", "x" + std::to_string(K) + "xui8");
  text = replaced(text, "3x12x", "3x" + std::to_string(K / 4) + "x");
  return replaced(text, "kernel.yield %a",
                  "%t = math.erfc %a : f32\n kernel.yield %t");
}

// The epilogue of a tile's rows, or of their vectors where it has a polynomial
// and sums of bytes have four steps or more for each vector, is interleaved
// with the products of the next tile. The sums are parked outside of the loops,
// and after the loops only the last tile's epilogue remains.
void pipelines() {
  const struct {
    const char *name;
    std::string text;
    bool few;
    const char *vectors; // of a row, by themselves; "": nothing beside products
    const char *isa = "zen4";
  } rows[] = {{"bytes", bytesText, false, "1"},
              {"few bytes", bytesText, true, "1"},
              {"short bytes with GELU", bytesOfGelu(380), false, "1"},
              {"long bytes with GELU", bytesOfGelu(384), false, "4"},
              {"few short bytes with GELU", bytesOfGelu(384), true, "1"},
              {"few long bytes with GELU", bytesOfGelu(388), true, "4"},
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
// once per cache line, in the order of memory: two vectors of 16 numbers are
// two lines, two of 8 are one. In bf16 the loop reads a copy, in f32 or
// integers; the steps that make the copy prefetch rows of keys and values.
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
    expect(row.lines < 2 ||
               body.find("+ 128, 1, 1)") < body.find("+ 144, 1, 1)"),
           "a later line is asked for first");
  }
  const std::string statement = statementOf(narrowed(text), "cascadelake");
  for (const char *asked : {"prefetch(key_heap", "prefetch(value_heap"})
    expect(countOf(asked, statement) == 2,
           std::string("not a line in each form: ") + asked);
}

// A square of a weight asks for its share of the rows that come two times 16
// rows later, in four streams of four rows: 64 numbers of each, or 128 where
// two columns are one word. Nothing asks for rows so long that L2 does not hold
// what lies between, nor for rows of a page and more of the transpose.
void prefetchesRowsOfPack() {
  struct {
    int columns;
    bool transposed;
    const char *element;
    int group, lines, farthest; // in numbers
    const char *isa = "zen4";
  } rows[] = {
      {256, false, "f32", 1, 16, 2 * 16 * 256 + 12 * 256 + 48},
      {1024, false, "f32", 1, 16, 2 * 16 * 1024 + 12 * 1024 + 48},
      {4096, false, "f32", 1, 0, 0},
      {256, false, "bf16", 2, 32, 2 * 16 * 256 + 12 * 256 + 112},
      {256, false, "f32", 1, 4, 2 * 8 * 256 + 4 * 256 + 16, "x86-64-v3"},
      {256, true, "f32", 1, 1, 2048},
      {1024, true, "f32", 1, 0, 0}};
  for (const auto &row : rows) {
    const int across = row.transposed ? row.columns : 96,
              steps = row.transposed ? 96 : row.columns;
    std::ostringstream text;
    text << "func.func @f(%w: memref<96x" << row.columns << "xf32>, %o: memref<"
         << (across + 47) / 48 << "x" << steps / row.group << "x"
         << 48 * row.group << "x" << row.element << ">) {\n kernel.pack %w"
         << (row.transposed ? " transposed" : "") << " outs(%o : memref<"
         << (across + 47) / 48 << "x" << steps / row.group << "x"
         << 48 * row.group << "x" << row.element << ">) : memref<96x"
         << row.columns << "xf32>\n return\n}\n";
    const std::string statement = statementOf(text.str(), row.isa);
    const int found = countOf(prefetchIntoL2Name, statement);
    expect(found == row.lines,
           std::to_string(found) + " lines of a weight are asked for");
    expect(!row.lines || statement.find("+ " + std::to_string(row.farthest)) !=
                             std::string::npos,
           "nothing asks for number " + std::to_string(row.farthest));
    expect(countOf("(uint32)prefetch", statement) == 0,
           "a line of a weight is asked for into L1");
  }
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
              %x: memref<?x48xf32> {transformer.name = "x"},
              %o: memref<?x16xf32> {kernel.output, transformer.name = "o"}) {
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

// Attention of 16 heads to the panels of one, whose values have 64 columns and
// are the keys' first.
std::string toPanels(int columns, const std::string &element) {
  auto rows = [&](int all) {
    return "memref<?x" + std::to_string(all) + "x" + element + ">";
  };
  const std::string q = rows(16 * columns), k = rows(columns),
                    o = "memref<?x1024xf32>", past = "memref<?xi32>";
  return "func.func @f(%t: index, %p: index, %q: " + q + ", %k: " + k +
         ", %n: " + past + ", %o: " + o +
         ") {\n kernel.attention %q, %k, %k past %n : " + past +
         " queries %t keys %t first %p outs(%o : " + o +
         ") heads 16 kv_heads 1 head_dim " + std::to_string(columns) +
         " value_dim 64 offsets [0, 0, 0] scale 0.5 causal true panels : " + q +
         ", " + k + ", " + k + "\n return\n}\n";
}

// Few queries of latent rows turn squares of keys by 64 shuffles, in one body
// however many columns a head has. Other keys of bf16 are widened two to a word
// where the CPU does not multiply them.
void keysOfPanels() {
  for (int columns : {80, 144}) {
    const int shuffles =
        countOf(" = shuffle(key_square_heap",
                statementOf(toPanels(columns, "f32"), "cascadelake", true));
    expect(shuffles == 64, std::to_string(columns) + " columns are turned by " +
                               std::to_string(shuffles) + " shuffles");
  }
  expect(statementOf(toPanels(64, "bf16"), "cascadelake", true)
                 .find("$y, 0, 32)") != std::string::npos,
         "keys of bf16 are not widened by words");
}

// Few rows of blocks.
const std::string blocksText = R"(
func.func @f(%x: memref<?x64xi8>, %w: memref<1x2x544xi8>,
             %z: memref<?x6xf32>, %o: memref<?x16xf32>) {
 kernel.matmul %x, %w parameters %z : memref<?x6xf32>
   outs(%o : memref<?x16xf32>) accumulators 1 blocks q8_0 {
 ^bb0(%c: f32):
  kernel.yield %c : f32
 } : memref<?x64xi8>, memref<1x2x544xi8>
 return
})";

// Few rows prefetch the streams that they read, on CPUs with AVX-512 that have
// no tile registers, but for a Zen 4: in each loop the 9 lines of a block, but
// those of one row on CPUs that look far ahead; and keys and values, of which
// the softmax prefetches 4 lines a tile.
void prefetchesStreams() {
  struct {
    const char *isa;
    int loops;
    bool asks;
  } rows[] = {{"cascadelake", 12, true},
              {"zen5", 8, true},
              {"zen4", 0, false},
              {"sapphirerapids", 0, false},
              {"x86-64-v3", 0, false}};
  for (const auto &[isa, loops, asks] : rows) {
    const int found =
        countOf("prefetch(weight_heap", statementOf(blocksText, isa, true));
    expect(found == 9 * loops, std::string(isa) + " prefetches " +
                                   std::to_string(found) + " lines of a block");
    const std::string parts = statementOf(toPanels(64, "bf16"), isa, true);
    for (const char *asked : {"prefetch(key_heap", "prefetch(value_heap"})
      expect((countOf(asked, parts) > 0) == asks,
             std::string(isa) + ": " + asked);
    for (const char *held : {"bf16", "f32"}) {
      const std::string few = statementOf(toPanels(64, held), isa, true);
      const int aside = countOf(prefetchIntoL2Name, few);
      expect(aside == (asks ? 4 : 0), std::string(isa) + " prefetches " +
                                          std::to_string(aside) +
                                          " lines of a tile of " + held);
      const size_t loop = few.rfind("for (", few.find(prefetchIntoL2Name));
      expect(!asks || few.compare(loop, 11, "for (weight") == 0,
             "the softmax prefetches values");
    }
  }
}

// A work-item of a device reads its row's outlier by itself: it cannot see what
// another one has on its stack, with or without a barrier.
void workItems() {
  const std::string source = statementOf(quantizeText, "opencl");
  const size_t begin = source.find("// produce own"),
               end = source.find("// consume own");
  expect(begin < end && end != std::string::npos &&
             source.substr(begin, end - begin).find("barrier(") ==
                 std::string::npos,
         "a work-item reads another one's stack");
}

} // namespace

int main() {
  workItems();
  keysOfPanels();
  prefetchesStreams();
  tiles();
  prefetches();
  pipelines();
  prefetchesRows();
  prefetchesRowsOfPack();
  heap();
  forms();
  printf("%d failures\n", failures);
  return failures != 0;
}
