// Reads a model's tokenizer and makes NAME.tokens of it.
// Must not know how a text becomes ids.
#include "compiler/driver/ModelTokens.h"
#include "compiler/text/Gguf.h"
#include "compiler/text/Tokenizer.h"
#include "compiler/weights/Gguf.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mille;
using llvm::StringRef;

namespace {

// A list whose entries have the wrong type stays empty; readGgufTokenizer then
// refuses it.
GgufTokenizer valuesOf(const Gguf &file) {
  GgufTokenizer values;
  auto text = [&](StringRef key) {
    return file.text("tokenizer." + key.str()).value_or("").str();
  };
  values.model = text("ggml.model");
  values.pre = text("ggml.pre");
  values.chatTemplate = text("chat_template");
  auto texts = [&](StringRef key, std::vector<std::string> &into) {
    file.texts(key, [&](StringRef entry) { into.push_back(entry.str()); });
  };
  texts("tokenizer.ggml.tokens", values.tokens);
  texts("tokenizer.ggml.merges", values.merges);
  file.numbers("tokenizer.ggml.scores",
               [&](double score) { values.scores.push_back(float(score)); });
  file.numbers("tokenizer.ggml.token_type", [&](double type) {
    values.tokenTypes.push_back(type >= 0 && type < 16 ? int32_t(type) : 0);
  });
  file.numbers("tokenizer.ggml.precompiled_charsmap", [&](double byte) {
    // The file may hold bytes as signed or unsigned numbers. Any other number
    // counts as 0.
    bool isByte = byte >= -128 && byte <= 255;
    values.precompiledCharsmap.push_back(char(isByte ? int(byte) : 0));
  });
  for (const GgufKey &key : file.keys()) {
    StringRef name = key.name;
    if (!name.consume_front("tokenizer.ggml."))
      continue;
    if (std::optional<bool> flag = file.flag(key.name))
      values.flags[name.str()] = *flag;
    else if (std::optional<int64_t> id = file.integer(key.name))
      values.ids[name.str()] = *id;
  }
  return values;
}

Status readGguf(StringRef path, mlir::MLIRContext &context, Vocabulary &into) {
  std::unique_ptr<Gguf> file = Gguf::open(path, context);
  if (!file)
    return Status::input;
  std::string why;
  if (!file->key("tokenizer.ggml.model"))
    return Status::done; // nothing to read
  if (readGgufTokenizer(valuesOf(*file), into, why))
    return Status::done;
  mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0)) << why;
  return Status::input;
}

std::string hashOfFile(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return "";
  StringRef whole = (*file)->getBuffer();
  return llvm::utohexstr(
      text::hashOf(reinterpret_cast<const unsigned char *>(whole.data()),
                   whole.size()),
      /*LowerCase=*/true, /*Width=*/16);
}

} // namespace

ModelTokens mille::tokensOfModel(StringRef model, StringRef folder,
                                 mlir::MLIRContext &context) {
  const bool isGguf = model.ends_with(".gguf");
  std::optional<std::string> path =
      isGguf ? std::optional(model.str()) : tokenizerIn(folder);
  if (!path)
    return {};
  std::vector<std::pair<mlir::Location, std::string>> problems;
  Vocabulary vocabulary;
  ModelTokens made;
  std::string &bytes = made.bytes;
  {
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) {
          problems.emplace_back(diagnostic.getLocation(), diagnostic.str());
          return mlir::success();
        });
    Status status = isGguf ? readGguf(*path, context, vocabulary)
                           : readTokenizer(*path, context, vocabulary);
    if (!failed(status) && vocabulary.tokens.empty())
      return {};
    if (!failed(status))
      status = makeTokens(vocabulary, *path, context, bytes);
    if (failed(status))
      bytes.clear();
  }
  for (const auto &[location, problem] : problems)
    mlir::emitWarning(location)
        << problem << (bytes.empty() ? ": the package has no .tokens" : "");
  if (!bytes.empty() && !isGguf && !vocabulary.typed)
    made.sourceHash = hashOfFile(*path);
  return made;
}
