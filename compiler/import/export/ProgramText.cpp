// Prints a program and renames its parameters. Must not change the program.
#include "compiler/import/export/ProgramText.h"
#include "dialects/transformer/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mille;
using namespace mille::import;
using llvm::StringRef;

static constexpr StringRef separators = " ,\n()[]<>{}:=";

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
  llvm::SplitString(text, all, separators);
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
  for (const auto &[word, count] : words) // a sum: any order
    apart += std::abs(count);
  return apart;
}

std::string mille::import::wordsBeyond(const ProgramText &a,
                                       const ProgramText &b) {
  constexpr size_t most = 6;
  const llvm::StringMap<int64_t> mine = wordsOf(a, false),
                                 others = wordsOf(b, false);
  llvm::SmallVector<StringRef> all;
  const std::string text = plain(a.text);
  llvm::SetVector<StringRef> beyond; // in the order of the program
  llvm::SplitString(text, all, separators);
  for (StringRef word : all)
    if (llvm::isAlpha(word.front()) && mine.lookup(word) > others.lookup(word))
      beyond.insert(word);
  if (beyond.empty())
    return "other numbers";
  std::string list;
  for (StringRef word : beyond.getArrayRef().take_front(most))
    list += (list.empty() ? "" : ", ") + word.str();
  return list + (beyond.size() > most ? ", ..." : "");
}
