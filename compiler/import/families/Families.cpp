// The list of families, by name.
#include "compiler/import/families/Families.h"

using namespace mille::import;

llvm::ArrayRef<const Family *> mille::import::families() {
  static const Family *const all[] = {
      &afmoe,        &albert,     &bart,
      &beit,         &bert,       &bitNet,
      &bloom,        &clip,       &clipText,
      &clipVision,   &cohere,     &cohere2,
      &debertaV2,    &deepseekV2, &deepseekV3,
      &deit,         &dinov2,     &dinov2WithRegisters,
      &dinov3Vit,    &distilBert, &doge,
      &electra,      &exaone4,    &falcon,
      &gemma,        &gemma2,     &gemma3Text,
      &glm,          &glm4,       &gpt2,
      &gptj,         &gptNeo,     &gptNeox,
      &gptOss,       &granite,    &graniteMoe,
      &hyperClovaX,  &llama,      &llama4Text,
      &m2m100,       &marian,     &mBart,
      &miniCpm3,     &miniMax,    &ministral,
      &ministral3,   &mistral,    &mixtral,
      &modernBert,   &mpt,        &mt5,
      &nanoChat,     &nemotron,   &nomicBert,
      &olmo,         &olmo2,      &olmo3,
      &opt,          &pegasus,    &phi,
      &phi3,         &qwen2,      &qwen2Moe,
      &qwen3,        &qwen3Moe,   &roberta,
      &roformer,     &siglip,     &siglipText,
      &siglipVision, &smolLm3,    &stablelm,
      &starcoder2,   &swin,       &swinv2,
      &t5,           &umt5,       &vit,
      &whisper,      &xglm,       &xlmRoberta,
      &xlmRobertaXl,
  };
  return all;
}
