// The list of families, by name.
#include "compiler/import/families/Families.h"

using namespace mille::import;

llvm::ArrayRef<const Family *> mille::import::families() {
  static const Family *const all[] = {
      &albert,
      &bart,
      &beit,
      &bert,
      &clip,
      &clipText,
      &clipVision,
      &deit,
      &dinov2,
      &dinov3Vit,
      &distilBert,
      &electra,
      &gpt2,
      &llama,
      &m2m100,
      &marian,
      &mBart,
      &mt5,
      &pegasus,
      &roberta,
      &siglip,
      &siglipText,
      &siglipVision,
      &swin,
      &swinv2,
      &t5,
      &umt5,
      &vit,
      &xlmRoberta,
      &xlmRobertaXl,
  };
  return all;
}
