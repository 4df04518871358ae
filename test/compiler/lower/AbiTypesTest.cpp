// RUN: %programs/lower-abi-types | FileCheck %s
//
// The structs that host code fills have the layout of runtime/abi.h.
// CHECK-COUNT-10: agrees
// CHECK-NOT: differs
#include "compiler/lower/AbiTypes.h"
#include "mlir/Target/LLVMIR/TypeToLLVM.h"
#include "runtime/abi.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/LLVMContext.h"

#include <cstdio>

using namespace mille::lower;

namespace {

int failures = 0;

struct Checker {
  llvm::LLVMContext context;
  mlir::LLVM::TypeToLLVMIRTranslator translator{context};
  llvm::DataLayout layout{
      "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:"
      "64-S128"};

  void check(const char *name, mlir::Type mirrored, size_t size,
             std::initializer_list<size_t> offsets) {
    auto *type =
        llvm::cast<llvm::StructType>(translator.translateType(mirrored));
    const llvm::StructLayout *found = layout.getStructLayout(type);
    bool good = layout.getTypeAllocSize(type) == size &&
                type->getNumElements() == offsets.size();
    unsigned field = 0;
    for (size_t offset : offsets)
      good = good && found->getElementOffset(field++) == offset;
    std::printf("%s %s\n", name, good ? "agrees" : "differs");
    failures += !good;
  }
};

} // namespace

int main() {
  mlir::MLIRContext mlirContext;
  mlirContext.loadDialect<mlir::LLVM::LLVMDialect>();
  AbiTypes types(&mlirContext);
  Checker c;
  // The type's three fields are stored as one word.
  static_assert(offsetof(mille_buffer, type_bits) ==
                    offsetof(mille_buffer, type_code) + 1 &&
                offsetof(mille_buffer, type_lanes) ==
                    offsetof(mille_buffer, type_code) + 2);
  // clang-format off
#define MILLE_STRUCT(NAME) { using Struct = mille_##NAME; \
  c.check("mille_" #NAME, types.NAME, sizeof(Struct), {
#define MILLE_FIELD(TYPE, NAME) offsetof(Struct, NAME),
#define MILLE_ARRAY(TYPE, NAME, COUNT) offsetof(Struct, NAME),
#define MILLE_END(NAME) }); }
#include "runtime/abi.def"
  // clang-format on
  return failures != 0;
}
