// The families that Mille knows, one per file of this folder.
#pragma once
#include "compiler/import/Config.h"

namespace mille::import {

llvm::ArrayRef<const Family *> families();

extern const Family bert;
extern const Family gpt2;
extern const Family llama;

} // namespace mille::import
