// The list of families, by name.
#include "compiler/import/families/Families.h"

using namespace mille::import;

llvm::ArrayRef<const Family *> mille::import::families() {
  static const Family *const all[] = {
      &albert,
      &beit,
      &bert,
      &deit,
      &dinov2,
      &dinov3Vit,
      &distilBert,
      &electra,
      &gpt2,
      &llama,
      &roberta,
      &vit,
      &xlmRoberta,
      &xlmRobertaXl,
  };
  return all;
}
