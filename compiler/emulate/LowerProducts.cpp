// wgmma, as an op or as inline assembly with A in registers, and the empty
// assembly that pins registers to a place. Must not know other assembly.
#include "compiler/emulate/Lowering.h"
#include "compiler/emulate/Products.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Regex.h"

using namespace mille::emulate;
using namespace mlir;

static std::optional<Element> elementOf(StringRef name) {
  return llvm::StringSwitch<std::optional<Element>>(name)
      .Case("bf16", Element::bf16)
      .Case("f16", Element::f16)
      .Case("e4m3", Element::e4m3)
      .Case("e5m2", Element::e5m2)
      .Case("s8", Element::s8)
      .Case("u8", Element::u8)
      .Default(std::nullopt);
}

std::optional<bool> Lowering::rewriteProduct(Operation *op) {
  Location loc = op->getLoc();
  if (isa<NVVM::WgmmaFenceAlignedOp>(op)) {
    call(op, "product_fence", {}, {}, Guard::fence);
  } else if (isa<NVVM::WgmmaGroupSyncAlignedOp>(op)) {
    call(op, "product_commit", {});
  } else if (auto wait = dyn_cast<NVVM::WgmmaWaitGroupSyncOp>(op)) {
    call(op, "product_wait", {constant(loc, wait.getGroup())}, {}, Guard::wait);
  } else if (auto product = dyn_cast<NVVM::WgmmaMmaAsyncOp>(op)) {
    auto a = elementOf(stringifyWGMMATypes(product.getTypeA()));
    auto b = elementOf(stringifyWGMMATypes(product.getTypeB()));
    StringRef sum = stringifyWGMMATypes(product.getTypeD());
    if (!a || !b || (sum != "f32" && sum != "s32"))
      return refuse(op, "a product of these types");
    ProductForm form = {*a,
                        *b,
                        product.getLayoutA() == NVVM::MMALayout::col,
                        product.getLayoutB() == NVVM::MMALayout::row,
                        product.getScaleA() == NVVM::WGMMAScaleIn::neg,
                        product.getScaleB() == NVVM::WGMMAScaleIn::neg};
    bool adds = product.getScaleD() == NVVM::WGMMAScaleOut::one;
    Value registers = scratch(loc);
    if (adds)
      LLVM::StoreOp::create(builder, loc, product.getInouts(), registers);
    call(op, "product",
         {registers, constant(loc, 0), constant(loc, 0), constant(loc, 0),
          constant(loc, 0), product.getDescriptorA(), product.getDescriptorB(),
          constant(loc, product.getShape().getN()),
          constant(loc, form.packed()), constant(loc, adds),
          constant(loc, /*fromRegisters=*/0)});
    replace(op, LLVM::LoadOp::create(builder, loc, op->getResult(0).getType(),
                                     registers));
    return true;
  } else if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op)) {
    return rewriteAsm(assembly);
  } else {
    return std::nullopt;
  }
  op->erase();
  return true;
}

// Empty but for a comment: arithmetic stays before or behind it. After
// products ("acc ready", "after products") all sums must be there.
void Lowering::rewritePin(LLVM::InlineAsmOp op) {
  Location loc = op.getLoc();
  Value registers = scratch(loc);
  size_t count = 0;
  if (op->getNumResults())
    for (Value value : op.getOperands())
      LLVM::StoreOp::create(builder, loc, value,
                            element(loc, registers, count++));
  call(op, "pin",
       {registers, constant(loc, count),
        constant(loc, op.getAsmString().contains("acc") ||
                          op.getAsmString().contains("after"))});
  if (op->getNumResults())
    replace(op, LLVM::LoadOp::create(builder, loc, op->getResult(0).getType(),
                                     registers));
  else
    op->erase();
}

bool Lowering::rewriteAsm(LLVM::InlineAsmOp op) {
  StringRef text = op.getAsmString().trim();
  bool words = llvm::all_of(op.getOperandTypes(), [](Type type) {
    return type.isIntOrFloat() && type.getIntOrFloatBitWidth() == 32;
  });
  if ((text.empty() || text.starts_with("//")) &&
      (!op->getNumResults() || words)) {
    rewritePin(op);
    return true;
  }
  return rewriteAsmProduct(op);
}

// { ... setp.ne.b32 p, S, 0; wgmma.mma_async.sync.aligned.mMnNkK.D.A.B
//   {sums}, {four registers}, descriptor, p, 1, 1[, transposed]; }
// where the sums are the first operands, tied to the results.
bool Lowering::rewriteAsmProduct(LLVM::InlineAsmOp op) {
  SmallVector<StringRef> match;
  static const llvm::Regex pattern(
      "setp\\.ne\\.b32 p, ([^,]*), 0; *"
      "wgmma\\.mma_async\\.sync\\.aligned\\.m64n([0-9]+)k[0-9]+\\.(f32|s32)\\."
      "([a-z0-9]+)\\.([a-z0-9]+) *\\{[^}]*\\}, *"
      "\\{\\$([0-9]+), *\\$([0-9]+), *\\$([0-9]+), *\\$([0-9]+)\\}, *"
      "\\$([0-9]+), *p, *(-?1), *(-?1)(, *[01])?;");
  if (!pattern.match(op.getAsmString(), &match))
    return refuse(op, "assembly '" + op.getAsmString().substr(0, 60) + "'");
  auto a = elementOf(match[4]), b = elementOf(match[5]);
  unsigned columns = 0;
  match[2].getAsInteger(10, columns);
  unsigned results = columns / 2;
  if (!a || !b)
    return refuse(op, "a product of these types");
  auto operand = [&](StringRef number) -> Value {
    unsigned index = 0;
    number.getAsInteger(10, index);
    return index >= results && index - results < op.getOperands().size()
               ? op.getOperands()[index - results]
               : Value();
  };
  ProductForm form = {*a,
                      *b,
                      false,
                      match[13].ends_with("1"),
                      match[11] == "-1",
                      match[12] == "-1"};
  Location loc = op.getLoc();
  Value adds = match[1].starts_with("$") ? operand(match[1].drop_front())
                                         : constant(loc, match[1] != "0");
  Values arguments = {scratch(loc)};
  for (unsigned i = 6; i < 10; ++i)
    arguments.push_back(operand(match[i]));
  arguments.push_back(LLVM::ZeroOp::create(builder, loc, builder.getI64Type()));
  arguments.push_back(operand(match[10]));
  if (llvm::is_contained(arguments, Value()) || !adds)
    return refuse(op, "assembly whose operands are not in order");
  llvm::append_range(arguments,
                     ArrayRef<Value>{constant(loc, columns),
                                     constant(loc, form.packed()), adds,
                                     constant(loc, /*fromRegisters=*/1)});
  for (unsigned i = 0; i < results; ++i)
    LLVM::StoreOp::create(builder, loc, op.getOperands()[i],
                          element(loc, arguments[0], i));
  call(op, "product", arguments);
  replace(op, LLVM::LoadOp::create(builder, loc, op->getResult(0).getType(),
                                   arguments[0]));
  return true;
}
