// Streams text, holds back what may begin a stop.
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
  return judgeText(mille_text_stream_create(text, MILLE_TEXT_PLAIN, &stream),
                   "", context);
}

void Answer::write(StringRef bytes) {
  written += bytes;
  if (lines)
    said += bytes;
  else
    out << bytes;
}

void Answer::take(StringRef more) {
  waiting += more;
  size_t first = std::string::npos, kept = 0;
  for (const std::string &stop : stops) {
    first = std::min(first, waiting.find(stop));
    // The longest end of what waits that begins this stop.
    for (size_t size = std::min(stop.size(), waiting.size()); size > kept;
         --size)
      if (StringRef(waiting).ends_with(StringRef(stop).take_front(size))) {
        kept = size;
        break;
      }
  }
  isStopped = first != std::string::npos;
  size_t sure = isStopped ? first : waiting.size() - kept;
  write(StringRef(waiting).take_front(sure));
  waiting.erase(0, isStopped ? waiting.size() : sure);
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
    take(StringRef(bytes, size));
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
    take(StringRef(bytes, size));
    if (!isStopped)
      write(waiting);
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
