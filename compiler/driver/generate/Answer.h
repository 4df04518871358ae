// Turns tokens into text as they come, in whole characters, up to a stop text.
// Must not choose tokens.
#pragma once
#include "compiler/driver/package/PackageText.h"
#include "generation/mille_generation.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

class Answer {
public:
  // text: null if only ids are written, with commas between them.
  // lines: write a line of JSON for each token.
  Answer(const mille_text *text, llvm::ArrayRef<std::string> stops, bool lines,
         mlir::MLIRContext &context, llvm::raw_ostream &out)
      : text(text), stops(stops), lines(lines), context(context), out(out) {}
  ~Answer() {
    mille_text_stream_close(stream);
    mille_stops_close(held);
  }

  Status begin();
  // Whether the token is an end token of the vocabulary, which is not written.
  bool isEnd(int32_t id) const { return llvm::is_contained(ends, id); }
  // The ids that are, and further ones that a model names.
  llvm::ArrayRef<int32_t> endIds() const { return ends; }
  void addEnds(llvm::ArrayRef<int32_t> ids) {
    for (int32_t id : ids)
      if (!isEnd(id))
        ends.push_back(id);
  }
  // Adds a token, and writes all text that cannot be part of a stop. facts:
  // further members of the token's line of JSON.
  Status push(int32_t id, llvm::json::Object facts = {});
  bool stopped() const { return isStopped; }
  Status finish();
  // The whole text written so far.
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
  mille_stops *held = nullptr; // holds back text that may begin a stop
  std::vector<int32_t> ends;
  std::string said;    // text since the last line of JSON
  std::string written; // text of the whole answer
  int isStopped = 0;
  bool isFirst = true;
};

} // namespace mille
