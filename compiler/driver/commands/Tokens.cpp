// `mille tokens`: runs the tokenizer of a package or of a model's folder, for
// people and for tests. Must not know how a text becomes ids.
#include "compiler/driver/Command.h"

#include "compiler/driver/package/PackageText.h"
#include "compiler/text/Tokenizer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mille;
using llvm::StringRef;

static Status fail(StringRef path, mlir::MLIRContext &context, Status status,
                   const llvm::Twine &text) {
  mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0)) << text;
  return status;
}

// A folder with a tokenizer.json needs no model beside it.
static Status open(StringRef subject, mlir::MLIRContext &context,
                   OpenText &text) {
  mille_text *opened = nullptr;
  if (std::optional<std::string> json = tokenizerIn(subject)) {
    Vocabulary vocabulary;
    std::string bytes;
    Status status = readTokenizer(*json, context, vocabulary);
    if (!failed(status))
      status = makeTokens(vocabulary, *json, context, bytes);
    if (failed(status))
      return status;
    status =
        judgeText(mille_text_open_bytes(bytes.data(), bytes.size(), &opened),
                  *json, context);
    text.reset(opened);
    return status;
  }
  Package package;
  if (llvm::sys::fs::exists(subject + "/config.json"))
    return fail(subject, context, Status::input,
                "the model's folder has no tokenizer.json");
  if (Status status = findPackage(subject, context, package); failed(status))
    return status;
  return openText(package, context, text);
}

static void printPieces(const mille_text *text, llvm::ArrayRef<int32_t> ids,
                        llvm::raw_ostream &out) {
  for (int32_t id : ids) {
    const char *bytes = nullptr;
    size_t size = 0;
    if (mille_text_token(text, id, &bytes, &size, nullptr))
      continue; // every id came from the vocabulary, or was decoded
    out << id << "\t\"";
    out.write_escaped(StringRef(bytes, size)) << "\"\n";
  }
}

static Status encode(const mille_text *text, StringRef bytes,
                     const TokensOptions &options, mlir::MLIRContext &context,
                     llvm::raw_ostream &out) {
  int flags = (options.noSpecial ? 0 : MILLE_TEXT_SPECIAL) |
              (options.noEnds ? 0 : MILLE_TEXT_ENDS);
  std::vector<int32_t> ids;
  if (Status status =
          encodeText(text, bytes, flags, options.subject, context, ids);
      failed(status))
    return status;
  if (options.pieces)
    printPieces(text, ids, out);
  else
    out << llvm::join(llvm::map_range(
                          ids, [](int32_t id) { return std::to_string(id); }),
                      ",")
        << '\n';
  return Status::done;
}

static Status decode(const mille_text *text, const TokensOptions &options,
                     mlir::MLIRContext &context, llvm::raw_ostream &out) {
  std::vector<int32_t> ids(options.decode->begin(), options.decode->end());
  int flags = options.noSpecial ? 0 : MILLE_TEXT_SPECIAL;
  size_t size = 0;
  std::string bytes;
  mille_text_status status =
      mille_text_decode(text, ids.data(), ids.size(), flags, nullptr, 0, &size);
  if (!status) {
    bytes.resize(size);
    status = mille_text_decode(text, ids.data(), ids.size(), flags,
                               bytes.data(), size, &size);
  }
  if (status)
    return judgeText(status, options.subject, context);
  if (options.pieces)
    printPieces(text, ids, out);
  else
    out << bytes << '\n';
  return Status::done;
}

Status mille::tokensCommand(const TokensOptions &options,
                            mlir::MLIRContext &context,
                            llvm::raw_ostream &out) {
  OpenText text(nullptr, mille_text_close);
  if (Status status = open(options.subject, context, text); failed(status))
    return status;
  if (options.decode)
    return decode(text.get(), options, context, out);
  if (options.encode)
    return encode(text.get(), *options.encode, options, context, out);
  auto buffer =
      llvm::MemoryBuffer::getFile(*options.encodeFile, /*IsText=*/false,
                                  /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(*options.encodeFile, context, Status::input,
                "cannot read the file: " + buffer.getError().message());
  return encode(text.get(), (*buffer)->getBuffer(), options, context, out);
}
