// Prints a program and renames its parameters. Must not change the program.
#include "compiler/import/export/ProgramText.h"
#include "dialects/transformer/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mille;
using namespace mille::import;
using llvm::StringRef;

static bool isOfName(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
}

ProgramText::ProgramText(mlir::ModuleOp module) {
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  llvm::StringMap<mlir::Type> types;
  for (auto model : module.getOps<transformer::ModelOp>()) {
    for (auto op : model.getOps<transformer::ParameterOp>())
      types[op.getSymName()] = op.getType();
    (*model.getOps<mlir::func::FuncOp>().begin())
        ->print(stream,
                mlir::OpPrintingFlags().assumeVerified().useLocalScope());
  }
  llvm::StringMap<size_t> numbers;
  for (StringRef rest = printed; !rest.empty();) {
    const size_t at = rest.find('@');
    text += rest.take_front(at);
    rest = rest.drop_front(std::min(at, rest.size()));
    if (!rest.consume_front("@"))
      continue;
    StringRef name = rest.take_while(isOfName);
    rest = rest.drop_front(name.size());
    text += '@';
    if (!types.contains(name)) { // of a function
      text += name;
      continue;
    }
    auto [known, fresh] = numbers.try_emplace(name, parameters.size());
    if (fresh)
      parameters.push_back(name.str());
    text += llvm::utostr(known->second);
  }
  llvm::raw_string_ostream end(text);
  for (const std::string &name : parameters)
    end << "\nparameter " << types.lookup(name);
}

// A line without names of values and numbers of parameters.
static std::string plain(StringRef line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    text += line[i];
    if (line[i] != '%' && line[i] != '@')
      continue;
    while (i + 1 < line.size() && isOfName(line[i + 1]))
      ++i;
  }
  return StringRef(text).trim().str();
}

static llvm::StringMap<int64_t> wordsOf(const ProgramText &program,
                                        bool opsOnly) {
  llvm::StringMap<int64_t> words;
  const std::string text = plain(program.text);
  llvm::SmallVector<StringRef> all;
  llvm::SplitString(text, all, " ,\n()[]<>{}:=");
  for (StringRef word : all)
    if (!opsOnly || word.starts_with("transformer."))
      ++words[word];
  return words;
}

size_t mille::import::wordsApart(const ProgramText &a, const ProgramText &b,
                                 bool opsOnly) {
  llvm::StringMap<int64_t> words = wordsOf(a, opsOnly);
  for (const auto &[word, count] : wordsOf(b, opsOnly))
    words[word] -= count;
  size_t apart = 0;
  for (const auto &[word, count] : words)
    apart += std::abs(count);
  return apart;
}

std::pair<std::string, std::string>
mille::import::firstApart(const ProgramText &a, const ProgramText &b) {
  auto linesOf = [](const ProgramText &program) {
    llvm::SmallVector<StringRef> lines;
    StringRef(program.text).split(lines, '\n', -1, /*KeepEmpty=*/false);
    return lines;
  };
  llvm::SmallVector<StringRef> left = linesOf(a), right = linesOf(b);
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i)
    if (plain(left[i]) != plain(right[i]))
      return {plain(left[i]), plain(right[i])};
  auto last = [&](llvm::ArrayRef<StringRef> lines, size_t from) {
    return from < lines.size() ? plain(lines[from]) : std::string();
  };
  return {last(left, right.size()), last(right, left.size())};
}
