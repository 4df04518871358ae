// Parses `.mlir` with MLIR's parser. That parser recurses, so this first checks
// the depth of nesting.
#include "compiler/import/Text.h"
#include "dialects/transformer/Transformer.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mille;
using namespace mille::import;
using llvm::StringRef;

// The offset of the bracket that nests too deep, or npos.
static size_t tooDeep(StringRef text, unsigned most) {
  unsigned depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') { // to the end of the string, escapes skipped
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      if (++depth > most)
        return i;
    } else if (c == ')' || c == ']' || c == '}' ||
               (c == '>' && i > 0 && text[i - 1] != '-')) {
      depth -= depth > 0;
    }
  }
  return StringRef::npos;
}

mlir::LogicalResult mille::import::checkText(StringRef text, StringRef path,
                                             mlir::MLIRContext &context) {
  constexpr unsigned deepest = 256;
  auto error = [&](unsigned line, unsigned column) {
    return mlir::emitError(
        mlir::FileLineColLoc::get(&context, path, line, column));
  };
  if (text.starts_with("ML\xefR"))
    return error(0, 0) << "the file is MLIR's bytecode but only text is read";
  size_t at = tooDeep(text, deepest);
  if (at == StringRef::npos)
    return mlir::success();
  StringRef before = text.take_front(at);
  size_t lineStart = before.rfind('\n') + 1;
  return error(before.count('\n') + 1, at - lineStart + 1)
         << "brackets nest more than " << deepest << " deep";
}

mlir::OwningOpRef<mlir::ModuleOp>
mille::import::parseText(StringRef path, mlir::MLIRContext &context) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0))
        << "cannot read the file: " << buffer.getError().message();
    return nullptr;
  }
  if (failed(checkText((*buffer)->getBuffer(), path, context)))
    return nullptr;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  return mlir::parseSourceFile<mlir::ModuleOp>(sources,
                                               mlir::ParserConfig(&context));
}

Status mille::import::importText(StringRef path, mlir::MLIRContext &context,
                                 Imported &imported) {
  context
      .loadDialect<transformer::TransformerDialect, mlir::func::FuncDialect>();
  imported.module = parseText(path, context);
  if (!imported.module)
    return Status::input;
  auto models = imported.module->getOps<transformer::ModelOp>();
  auto count = std::distance(models.begin(), models.end());
  if (count == 1)
    return Status::done;
  mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0))
      << "the file holds " << count << " transformer.model but must hold one";
  imported.module = nullptr;
  return Status::input;
}
