// Holds back text that may begin a stop, and writes the rest as text or JSON.
// Must not choose tokens.
#include "compiler/driver/generate/Answer.h"

using namespace mille;
using llvm::StringRef;

Status Answer::begin() {
  if (!text)
    return Status::done;
  for (const char *role : {"eos", "end_of_turn"}) {
    int32_t id = 0;
    if (!mille_text_role(text, role, &id))
      ends.push_back(id);
  }
  std::vector<const char *> texts;
  std::vector<size_t> sizes;
  for (const std::string &stop : stops) {
    texts.push_back(stop.data());
    sizes.push_back(stop.size());
  }
  if (Status status = judge(
          mille_stops_create(texts.data(), sizes.data(), texts.size(), &held));
      failed(status))
    return status;
  return judgeText(mille_text_stream_create(text, MILLE_TEXT_PLAIN, &stream),
                   "", context);
}

void Answer::write(void *answer, const char *bytes, size_t size) {
  Answer &to = *static_cast<Answer *>(answer);
  StringRef more(bytes, size);
  to.written += more;
  if (to.lines)
    to.said += more;
  else
    to.out << more;
}

Status Answer::judge(mille_status status) {
  if (!status)
    return Status::done;
  mlir::emitError(mlir::UnknownLoc::get(&context))
      << (status == MILLE_OUT_OF_MEMORY ? "memory was refused"
                                        : "a stop is empty");
  return status == MILLE_OUT_OF_MEMORY ? Status::machine : Status::commandLine;
}

Status Answer::push(int32_t id, llvm::json::Object facts) {
  if (!text) {
    if (!lines)
      out << (isFirst ? "" : ",") << id;
    isFirst = false;
  } else {
    const char *bytes = nullptr;
    size_t size = 0;
    if (Status status = judgeText(
            mille_text_stream_push(stream, id, &bytes, &size), "", context);
        failed(status))
      return status;
    mille_stops_push(held, bytes, size, write, this, &isStopped);
  }
  if (lines) {
    facts["id"] = id;
    if (text)
      facts["text"] = llvm::json::fixUTF8(said);
    out << llvm::json::Value(std::move(facts)) << '\n';
    said.clear();
  }
  out.flush();
  return Status::done;
}

Status Answer::finish() {
  if (text && !isStopped) {
    const char *bytes = nullptr;
    size_t size = 0;
    if (Status status = judgeText(
            mille_text_stream_finish(stream, &bytes, &size), "", context);
        failed(status))
      return status;
    mille_stops_push(held, bytes, size, write, this, &isStopped);
    if (!isStopped)
      mille_stops_finish(held, write, this);
  }
  if (!lines)
    out << '\n';
  else if (!said.empty())
    out << llvm::json::Value(
               llvm::json::Object{{"text", llvm::json::fixUTF8(said)}})
        << '\n';
  out.flush();
  return Status::done;
}
