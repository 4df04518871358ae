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

#define AT(type, field) offsetof(type, field)

int main() {
  mlir::MLIRContext mlirContext;
  mlirContext.loadDialect<mlir::LLVM::LLVMDialect>();
  AbiTypes types(&mlirContext);
  Checker c;
  c.check("mille_dimension", types.dimension, sizeof(mille_dimension),
          {AT(mille_dimension, min), AT(mille_dimension, extent),
           AT(mille_dimension, stride), AT(mille_dimension, flags)});
  // The type's three fields are stored as one word.
  static_assert(
      AT(mille_buffer, type_bits) == AT(mille_buffer, type_code) + 1 &&
      AT(mille_buffer, type_lanes) == AT(mille_buffer, type_code) + 2);
  c.check("mille_buffer", types.buffer, sizeof(mille_buffer),
          {AT(mille_buffer, device), AT(mille_buffer, device_interface),
           AT(mille_buffer, host), AT(mille_buffer, flags),
           AT(mille_buffer, type_code), AT(mille_buffer, dimensions),
           AT(mille_buffer, dimension), AT(mille_buffer, padding)});
  c.check("mille_stage", types.stage, sizeof(mille_stage),
          {AT(mille_stage, kernel), AT(mille_stage, buffers),
           AT(mille_stage, scalars), AT(mille_stage, sequence_rows),
           AT(mille_stage, starts), AT(mille_stage, entries),
           AT(mille_stage, stacked), AT(mille_stage, token_buffers),
           AT(mille_stage, token_scalars)});
  c.check("mille_kernel", types.kernel, sizeof(mille_kernel),
          {AT(mille_kernel, name), AT(mille_kernel, partition),
           AT(mille_kernel, buffer_count), AT(mille_kernel, scalar_count),
           AT(mille_kernel, column_unit), AT(mille_kernel, row_unit),
           AT(mille_kernel, few_rows), AT(mille_kernel, key_unit),
           AT(mille_kernel, flops_per_row), AT(mille_kernel, bytes_weights),
           AT(mille_kernel, row_dimension), AT(mille_kernel, functions)});
  c.check("mille_run", types.run, sizeof(mille_run),
          {AT(mille_run, batch), AT(mille_run, tokens),
           AT(mille_run, decoder_tokens), AT(mille_run, token_rows),
           AT(mille_run, padded_rows), AT(mille_run, arena),
           AT(mille_run, weights), AT(mille_run, table), AT(mille_run, inputs),
           AT(mille_run, outputs)});
  c.check("mille_tensor_info", types.tensorInfo, sizeof(mille_tensor_info),
          {AT(mille_tensor_info, name), AT(mille_tensor_info, type),
           AT(mille_tensor_info, rank), AT(mille_tensor_info, shape),
           AT(mille_tensor_info, fallback), AT(mille_tensor_info, reserved),
           AT(mille_tensor_info, below)});
  c.check(
      "mille_isa", types.isa, sizeof(mille_isa),
      {AT(mille_isa, name), AT(mille_isa, features), AT(mille_isa, backend)});
  c.check("mille_schedule_info", types.schedule, sizeof(mille_schedule_info),
          {AT(mille_schedule_info, name), AT(mille_schedule_info, from),
           AT(mille_schedule_info, to), AT(mille_schedule_info, steps)});
  c.check("mille_stack_info", types.stack, sizeof(mille_stack_info),
          {AT(mille_stack_info, first_entry), AT(mille_stack_info, row_entries),
           AT(mille_stack_info, layers)});
  c.check("mille_model", types.model, sizeof(mille_model),
          {AT(mille_model, abi_version),
           AT(mille_model, isa_count),
           AT(mille_model, input_count),
           AT(mille_model, output_count),
           AT(mille_model, kernel_count),
           AT(mille_model, max_tokens),
           AT(mille_model, name),
           AT(mille_model, isas),
           AT(mille_model, inputs),
           AT(mille_model, outputs),
           AT(mille_model, kernels),
           AT(mille_model, arena_bytes_per_row),
           AT(mille_model, scratch_bytes),
           AT(mille_model, scratch_bytes_per_token),
           AT(mille_model, weights_bytes),
           AT(mille_model, weights_hash),
           AT(mille_model, weights),
           AT(mille_model, forward),
           AT(mille_model, max_decoder_tokens),
           AT(mille_model, fixed_tokens),
           AT(mille_model, slots),
           AT(mille_model, schedule_count),
           AT(mille_model, schedules),
           AT(mille_model, padding_ends),
           AT(mille_model, mask_input),
           AT(mille_model, stack_count),
           AT(mille_model, stacks)});
  return failures != 0;
}
