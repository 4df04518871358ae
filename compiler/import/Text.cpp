// Parses `.mlir` with MLIR's parser, after a look at what that parser does not
// survive.
#include "compiler/import/Text.h"
#include "dialects/transformer/Transformer.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mille;
using namespace mille::import;
using llvm::StringRef;

namespace {

// The first place of a text that MLIR's parser must not see.
struct Fault {
  size_t at = StringRef::npos; // npos: none
  std::string why;
};

constexpr unsigned deepest = 256;         // brackets: the parser recurses
constexpr unsigned mostResults = 1 << 16; // the parser makes room for %x#N

// Whether the text from `at` on is `#N` behind a value, with an N for which
// there is no room.
bool isFarResult(StringRef text, size_t at) {
  StringRef digits = text.substr(at + 1).take_while(llvm::isDigit);
  size_t name = at;
  while (name > 0 && (llvm::isAlnum(text[name - 1]) ||
                      StringRef("_.$-").contains(text[name - 1])))
    --name;
  unsigned number;
  return !digits.empty() && name > 0 && text[name - 1] == '%' &&
         (digits.getAsInteger(10, number) || number >= mostResults);
}

Fault findFault(StringRef text) {
  unsigned depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') { // to the end of the string, escapes skipped
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      if (++depth > deepest)
        return {i,
                "brackets nest more than " + std::to_string(deepest) + " deep"};
    } else if (c == ')' || c == ']' || c == '}' ||
               (c == '>' && i > 0 && text[i - 1] != '-')) {
      depth -= depth > 0;
    } else if (c == '#' && isFarResult(text, i)) {
      return {i, "the number of a result must be below " +
                     std::to_string(mostResults)};
    }
  }
  return {};
}

} // namespace

mlir::LogicalResult mille::import::checkText(StringRef text, StringRef path,
                                             mlir::MLIRContext &context) {
  auto error = [&](unsigned line, unsigned column) {
    return mlir::emitError(
        mlir::FileLineColLoc::get(&context, path, line, column));
  };
  if (text.starts_with("ML\xefR"))
    return error(0, 0) << "the file is MLIR's bytecode but only text is read";
  Fault fault = findFault(text);
  if (fault.at == StringRef::npos)
    return mlir::success();
  StringRef before = text.take_front(fault.at);
  size_t lineStart = before.rfind('\n') + 1;
  return error(before.count('\n') + 1, fault.at - lineStart + 1) << fault.why;
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
