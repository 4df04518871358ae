// The list of families, by name.
#include "compiler/import/families/Families.h"

using namespace mille::import;

llvm::ArrayRef<const Family *> mille::import::families() {
  static const Family *const all[] = {
      &albert,
      &bert,
      &distilBert,
      &electra,
      &gpt2,
      &llama,
      &roberta,
      &xlmRoberta,
      &xlmRobertaXl,
  };
  return all;
}
