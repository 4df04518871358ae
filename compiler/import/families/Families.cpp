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
      &debertaV2,
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
      &modernBert,
      &mt5,
      &nomicBert,
      &pegasus,
      &roberta,
      &roformer,
      &siglip,
      &siglipText,
      &siglipVision,
      &swin,
      &swinv2,
      &t5,
      &umt5,
      &vit,
      &whisper,
      &xlmRoberta,
      &xlmRobertaXl,
  };
  return all;
}
