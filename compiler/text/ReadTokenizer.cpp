// Reads the files of a Hugging Face tokenizer, part by part.
// Must not know the contents of a part.
#include "compiler/text/Reading.h"
#include "compiler/text/Sections.h"
#include "compiler/text/Tokenizer.h"
#include "text/mille_text.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mille;
using llvm::StringRef;

// Gemma's has 33 MB.
constexpr uint64_t mostBytes = 128 << 20;

static std::string beside(StringRef path, StringRef name) {
  llvm::SmallString<256> other(llvm::sys::path::parent_path(path));
  llvm::sys::path::append(other, name);
  return std::string(other);
}

std::optional<std::string> mille::tokenizerIn(StringRef folder) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, "tokenizer.json");
  if (!llvm::sys::fs::exists(path))
    return std::nullopt;
  return std::string(path);
}

static Status fail(StringRef path, mlir::MLIRContext &context, Status status,
                   const llvm::Twine &text) {
  mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0)) << text;
  return status;
}

static Status readText(StringRef path, mlir::MLIRContext &context,
                       std::string &text) {
  uint64_t size = 0;
  if (!llvm::sys::fs::file_size(path, size) && size > mostBytes)
    return fail(path, context, Status::input,
                "the file has " + llvm::Twine(size) +
                    " bytes but may have at most " + llvm::Twine(mostBytes));
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return fail(path, context, Status::input,
                "cannot read the file: " + buffer.getError().message());
  text = (*buffer)->getBuffer().str();
  return Status::done;
}

// A token of tokenizer_config.json is a string, or an object that holds one.
static std::string tokenText(const json::Value &config, StringRef key) {
  const json::Value *value = TokenizerReading::get(config, key);
  if (value && value->kind == json::Kind::object)
    value = TokenizerReading::get(*value, "content");
  return value && value->kind == json::Kind::string ? value->text : "";
}

// One template, or a list of named ones of which "default" counts.
static std::string templateIn(const json::Value &config) {
  const json::Value *value = TokenizerReading::get(config, "chat_template");
  if (!value || value->kind == json::Kind::string)
    return value ? value->text : "";
  for (const json::Value &each : value->items)
    if (tokenText(each, "name") == "default")
      return tokenText(each, "template");
  return "";
}

static Status readConfig(StringRef path, TokenizerReading &reading) {
  std::string file = beside(path, "tokenizer_config.json");
  Vocabulary &vocabulary = reading.vocabulary;
  if (llvm::sys::fs::exists(file)) {
    auto config = json::parseFile(file, reading.context);
    if (!config)
      return Status::input;
    const std::pair<const char *, text::Role> roles[] = {
        {"bos_token", text::bosRole},       {"eos_token", text::eosRole},
        {"unk_token", text::unknownRole},   {"pad_token", text::paddingRole},
        {"sep_token", text::separatorRole}, {"cls_token", text::classRole},
        {"mask_token", text::maskRole}};
    for (auto [key, role] : roles) {
      // unk_token of the model counts where both are given.
      auto found = reading.ids.find(tokenText(config->root, key));
      if (found != reading.ids.end() && vocabulary.role[role] == text::none &&
          role != text::unknownRole)
        vocabulary.role[role] = found->second;
    }
    vocabulary.bosText = tokenText(config->root, "bos_token");
    vocabulary.eosText = tokenText(config->root, "eos_token");
    vocabulary.chatTemplate = templateIn(config->root);
  }
  std::string jinja = beside(path, "chat_template.jinja");
  if (llvm::sys::fs::exists(jinja))
    return readText(jinja, reading.context, vocabulary.chatTemplate);
  return Status::done;
}

static bool readParts(TokenizerReading &reading, const Sections &sections) {
  const json::Value &root = reading.document.root;
  Vocabulary &vocabulary = reading.vocabulary;
  if (!readModel(reading, sections) || !readAddedTokens(reading))
    return false;
  const json::Value *part = TokenizerReading::get(root, "normalizer");
  if (part && !readNormalizers(reading, *part))
    return false;
  part = TokenizerReading::get(root, "pre_tokenizer");
  if (part && !readSplits(reading, *part))
    return false;
  part = TokenizerReading::get(root, "post_processor");
  if (part && !readEnds(reading, *part))
    return false;
  part = TokenizerReading::get(root, "decoder");
  if (part && !readDecoders(reading, *part))
    return false;
  if (!part)
    vocabulary.decoders.push_back({text::decodeSpacesStep, 0, 0, "", ""});
  bool bytes = vocabulary.flags & text::byteLevel;
  if (bytes && vocabulary.model != text::bpeModel)
    return reading.fail(root.at, "the pre-tokenizer is ByteLevel but the "
                                 "model is not BPE");
  if (bytes && (!part || vocabulary.decoders.size() != 1 ||
                vocabulary.decoders[0].kind != text::decodeBytesStep))
    return reading.fail(part ? part->at : root.at,
                        "the pre-tokenizer is ByteLevel but the decoder is "
                        "not");
  return true;
}

Status mille::readTokenizer(StringRef path, mlir::MLIRContext &context,
                            Vocabulary &vocabulary) {
  std::string text;
  if (Status status = readText(path, context, text); failed(status))
    return status;
  Sections sections = cutSections(text);
  auto document = json::parse(sections.rest, path, context);
  if (!document)
    return Status::input;
  TokenizerReading reading{*document, context, vocabulary, {}};
  if (!readParts(reading, sections))
    return Status::input;
  return readConfig(path, reading);
}

Status mille::makeTokens(const Vocabulary &vocabulary, StringRef path,
                         mlir::MLIRContext &context, std::string &bytes) {
  bytes = writeTokens(vocabulary);
  mille_text *opened = nullptr;
  mille_text_status status =
      mille_text_open_bytes(bytes.data(), bytes.size(), &opened);
  mille_text_close(opened);
  if (!status)
    return Status::done;
  return fail(path, context,
              status == MILLE_TEXT_OUT_OF_MEMORY ? Status::machine
                                                 : Status::input,
              mille_text_message());
}
