// Opens NAME.tokens and reports what is wrong with it.
// Must not know how a text becomes ids.
#include "compiler/driver/package/PackageText.h"
#include "llvm/Support/FileSystem.h"

using namespace mille;

Status mille::judgeText(mille_text_status status, llvm::StringRef path,
                        mlir::MLIRContext &context) {
  if (!status)
    return Status::done;
  mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0))
      << mille_text_message();
  return status == MILLE_TEXT_OUT_OF_MEMORY      ? Status::machine
         : status == MILLE_TEXT_INVALID_ARGUMENT ? Status::bug
                                                 : Status::input;
}

Status mille::openText(const Package &package, mlir::MLIRContext &context,
                       OpenText &text) {
  std::string path = package.file("tokens");
  if (!llvm::sys::fs::exists(path)) {
    mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0))
        << "the package has no " << package.name
        << ".tokens: its model had no tokenizer, or one that is not supported";
    return Status::input;
  }
  mille_text *opened = nullptr;
  Status status =
      judgeText(mille_text_open(path.c_str(), &opened), path, context);
  text.reset(opened);
  return status;
}

// A text rarely has more ids than bytes: only tokens at its ends, or characters
// that normalize to several, make more. Then it is encoded a second time with
// enough room.
Status mille::encodeText(const mille_text *text, llvm::StringRef bytes,
                         int flags, llvm::StringRef path,
                         mlir::MLIRContext &context,
                         std::vector<int32_t> &ids) {
  size_t count = bytes.size() + 16;
  mille_text_status status = MILLE_TEXT_OK;
  do {
    ids.resize(count);
    status = mille_text_encode(text, bytes.data(), bytes.size(), flags,
                               ids.data(), ids.size(), &count);
  } while (!status && count > ids.size());
  ids.resize(status ? 0 : count);
  return judgeText(status, path, context);
}
