// The text of tokens as they come: whole characters, up to a stop.
// Must not choose tokens.
#pragma once
#include "compiler/driver/package/PackageText.h"
#include "generation/mille_generation.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

class Answer {
public:
  // text: null for ids alone, which are written with commas between them.
  // lines: a line of JSON for each token.
  Answer(const mille_text *text, llvm::ArrayRef<std::string> stops, bool lines,
         mlir::MLIRContext &context, llvm::raw_ostream &out)
      : text(text), stops(stops), lines(lines), context(context), out(out) {}
  ~Answer() {
    mille_text_stream_close(stream);
    mille_stops_close(held);
  }

  Status begin();
  // Whether the token ends the answer by the vocabulary; it is not written.
  bool isEnd(int32_t id) const { return llvm::is_contained(ends, id); }
  // Writes what is sure to be no part of a stop. facts: what a line of JSON
  // says of the token besides.
  Status push(int32_t id, llvm::json::Object facts = {});
  bool stopped() const { return isStopped; }
  Status finish();
  // All text that was written.
  const std::string &all() const { return written; }

private:
  Status judge(mille_status status);
  static void write(void *answer, const char *bytes, size_t size);

  const mille_text *text;
  llvm::ArrayRef<std::string> stops;
  bool lines;
  mlir::MLIRContext &context;
  llvm::raw_ostream &out;
  mille_text_stream *stream = nullptr;
  mille_stops *held = nullptr; // holds back what may begin a stop
  std::vector<int32_t> ends;
  std::string said;    // since the last line of JSON
  std::string written; // of the whole answer
  int isStopped = 0;
  bool isFirst = true;
};

} // namespace mille
