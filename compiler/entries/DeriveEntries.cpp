// Finds the entries that a model can have, and adds the wanted ones.
// Must not make one itself.
#include "compiler/entries/DeriveEntries.h"
#include "compiler/entries/DeriveExtend.h"
#include "compiler/entries/DeriveParts.h"
#include "dialects/kernel/Signature.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mille;
using namespace mille::entries;

namespace {

Status refuse(Operation *model, StringRef name, ArrayRef<std::string> can,
              StringRef whyNot) {
  auto error = model->emitError()
               << "entry '" << name << "' is wanted but the model has none";
  if ((name == "extend" || name == "next") && !whyNot.empty())
    error << ": " << whyNot;
  error.attachNote() << "its entries can be " << llvm::join(can, ", ");
  return Status::input;
}

} // namespace

Status mille::deriveEntries(Operation *model, ArrayRef<std::string> wanted) {
  func::FuncOp forward = kernel::entryOf(model, "");
  if (!forward || wanted.empty())
    return Status::done;
  std::vector<std::string> can;
  for (func::FuncOp entry : kernel::entriesOf(model))
    can.push_back(entry.getName().str());
  const size_t present = can.size();
  // After fuse a program is flat, and no entry can be derived from it.
  SmallVector<EntryPart> parts;
  std::string whyNot = "the model given has been through fuse";
  if (!kernel::sizeArguments(forward)) {
    parts = partsOf(forward);
    whyNot = whyNotExtend(forward);
  }
  for (const EntryPart &part : parts)
    if (!llvm::is_contained(can, part.name))
      can.push_back(part.name);
  for (const char *name : {"extend", "next"})
    if (whyNot.empty() && !llvm::is_contained(can, name))
      can.push_back(name);
  const bool all = llvm::is_contained(wanted, "all");
  for (const std::string &name : wanted)
    if (name != "all" && !llvm::is_contained(can, name))
      return refuse(model, name, can, whyNot);
  auto isNew = [&](StringRef name) {
    auto known = llvm::ArrayRef(can).take_front(present);
    return !llvm::is_contained(known, name) &&
           (all || llvm::is_contained(wanted, name));
  };
  for (const EntryPart &part : parts)
    if (isNew(part.name))
      makeSlice(forward, part.name, part.outputs, part.cut);
  if (whyNot.empty() && isNew("extend"))
    deriveExtend(forward);
  if (whyNot.empty() && isNew("next"))
    deriveNext(forward);
  return Status::done;
}
