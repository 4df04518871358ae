// The families that Mille knows, one per file of this folder.
#pragma once
#include "compiler/import/Config.h"

namespace mille::import {

llvm::ArrayRef<const Family *> families();

extern const Family albert;
extern const Family bart;
extern const Family beit;
extern const Family bert;
extern const Family clip;
extern const Family clipText;
extern const Family clipVision;
extern const Family debertaV2;
extern const Family deit;
extern const Family dinov2;
extern const Family dinov3Vit;
extern const Family distilBert;
extern const Family electra;
extern const Family gpt2;
extern const Family llama;
extern const Family m2m100;
extern const Family marian;
extern const Family mBart;
extern const Family modernBert;
extern const Family mt5;
extern const Family nomicBert;
extern const Family pegasus;
extern const Family roberta;
extern const Family roformer;
extern const Family siglip;
extern const Family siglipText;
extern const Family siglipVision;
extern const Family swin;
extern const Family swinv2;
extern const Family t5;
extern const Family umt5;
extern const Family vit;
extern const Family whisper;
extern const Family xlmRoberta;
extern const Family xlmRobertaXl;

} // namespace mille::import
