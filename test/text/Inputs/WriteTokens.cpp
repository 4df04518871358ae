// Writes NAME.tokens of a tokenizer.json: write-tokens FILE.json OUT.
// Must not compile a model.
#include "compiler/text/Tokenizer.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  mlir::MLIRContext context;
  mille::Vocabulary vocabulary;
  std::string bytes;
  mille::Status status = mille::readTokenizer(argv[1], context, vocabulary);
  if (!failed(status))
    status = mille::makeTokens(vocabulary, argv[1], context, bytes);
  if (failed(status))
    return static_cast<int>(status);
  std::error_code error;
  llvm::raw_fd_ostream out(argv[2], error);
  out << bytes;
  return error ? 3 : 0;
}
