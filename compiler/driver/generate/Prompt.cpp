// Encodes a prompt, or a conversation in the model's chat format.
// Must not run a model.
#include "compiler/driver/generate/Prompt.h"
#include "compiler/json/Json.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mille;
using llvm::StringRef;

namespace {

// The text of `key` in a message; null after an error.
const std::string *textOf(const json::Document &file,
                          const json::Value &message, StringRef key,
                          mlir::MLIRContext &context) {
  const json::Member *member = message.find(key);
  if (member && member->value.kind == json::Kind::string)
    return &member->value.text;
  auto error =
      mlir::emitError(file.locate(member ? member->at : message.at, context));
  if (member)
    error << key << " is " << member->value.describe() << " but must be a text";
  else
    error << "the message has no " << key;
  return nullptr;
}

Status readTurns(const json::Document &file, mlir::MLIRContext &context,
                 std::vector<Turn> &turns) {
  const json::Member *messages = file.root.find("messages");
  if (!messages || messages->value.kind != json::Kind::array ||
      messages->value.items.empty()) {
    mlir::emitError(
        file.locate(messages ? messages->at : file.root.at, context))
        << "messages must be a list of at least one message";
    return Status::input;
  }
  for (const json::Value &message : messages->value.items) {
    if (message.kind != json::Kind::object) {
      mlir::emitError(file.locate(message.at, context))
          << "a message is " << message.describe()
          << " but must be an object with role and content";
      return Status::input;
    }
    const std::string *role = textOf(file, message, "role", context);
    const std::string *content =
        role ? textOf(file, message, "content", context) : nullptr;
    if (!content)
      return Status::input;
    turns.push_back({*role, *content});
  }
  return Status::done;
}

} // namespace

Status mille::conversationIds(llvm::ArrayRef<Turn> turns,
                              const mille_text *text, StringRef path,
                              mlir::MLIRContext &context,
                              std::vector<int32_t> &ids) {
  std::vector<mille_text_turn> list;
  for (const Turn &turn : turns)
    list.push_back(
        {turn.role.c_str(), turn.content.data(), turn.content.size()});
  std::string date = llvm::formatv(
      "{0:%Y-%m-%d}", std::chrono::time_point_cast<std::chrono::nanoseconds>(
                          std::chrono::system_clock::now()));
  std::string bytes;
  size_t size = 0;
  mille_text_status status =
      mille_text_chat(text, list.data(), list.size(), /*answer=*/1,
                      date.c_str(), nullptr, 0, &size);
  if (!status) {
    bytes.resize(size);
    status = mille_text_chat(text, list.data(), list.size(), /*answer=*/1,
                             date.c_str(), bytes.data(), size, &size);
  }
  if (Status s = judgeText(status, path, context); failed(s))
    return s;
  return encodeText(text, bytes, MILLE_TEXT_SPECIAL, path, context, ids);
}

static Status conversation(const std::string &path, const mille_text *text,
                           mlir::MLIRContext &context,
                           std::vector<int32_t> &ids) {
  std::unique_ptr<json::Document> file = json::parseFile(path, context);
  std::vector<Turn> turns;
  if (!file)
    return Status::input;
  if (Status status = readTurns(*file, context, turns); failed(status))
    return status;
  return conversationIds(turns, text, path, context, ids);
}

Status mille::promptIds(const GenerateOptions &options, const mille_text *text,
                        mlir::MLIRContext &context, std::vector<int32_t> &ids) {
  Status status = Status::done;
  if (options.ids)
    ids.assign(options.ids->begin(), options.ids->end());
  else if (options.messages)
    status = conversation(*options.messages, text, context, ids);
  else
    status = encodeText(text, *options.prompt,
                        MILLE_TEXT_SPECIAL | MILLE_TEXT_ENDS, "", context, ids);
  if (failed(status) || !ids.empty())
    return status;
  mlir::emitError(mlir::UnknownLoc::get(&context))
      << "the prompt is empty: it has no token to continue";
  return Status::input;
}
