// Writes NAME.tokens of GGUF values, which a text file gives, one per line:
//   model gpt2 | pre llama-bpe | id bos_token_id 1 | flag add_bos_token 1
//   token TYPE SCORE|- HEX | merge HEX | charsmap HEX | template HEX
// write-gguf-tokens VALUES OUT. Must not read a GGUF.
#include "compiler/text/Gguf.h"
#include "compiler/text/Tokenizer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <fstream>
#include <sstream>

static void take(const std::string &line, mille::GgufTokenizer &into) {
  std::istringstream words(line);
  std::string kind, name;
  words >> kind;
  auto hex = [&] {
    std::string digits;
    words >> digits;
    return llvm::fromHex(digits);
  };
  if (kind == "model")
    words >> into.model;
  else if (kind == "pre")
    words >> into.pre;
  else if (kind == "id")
    words >> name >> into.ids[name];
  else if (kind == "flag")
    words >> name, words >> into.flags[name];
  else if (kind == "merge")
    into.merges.push_back(hex());
  else if (kind == "charsmap")
    into.precompiledCharsmap = hex();
  else if (kind == "template")
    into.chatTemplate = hex();
  else if (kind == "token") {
    into.tokenTypes.emplace_back();
    words >> into.tokenTypes.back() >> name;
    if (name != "-")
      into.scores.push_back(std::strtof(name.c_str(), nullptr));
    into.tokens.push_back(hex());
  }
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  mille::GgufTokenizer values;
  std::ifstream in(argv[1]);
  for (std::string line; std::getline(in, line);)
    take(line, values);
  mlir::MLIRContext context;
  mille::Vocabulary vocabulary;
  std::string why, bytes;
  if (!mille::readGgufTokenizer(values, vocabulary, why)) {
    llvm::errs() << why << '\n';
    return 1;
  }
  mille::Status status = mille::makeTokens(vocabulary, argv[1], context, bytes);
  if (failed(status))
    return static_cast<int>(status);
  std::error_code error;
  llvm::raw_fd_ostream(argv[2], error) << bytes;
  return error ? 3 : 0;
}
