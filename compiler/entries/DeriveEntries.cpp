// Finds the entries that a model can have, and adds the wanted ones.
// Must not make one itself.
#include "compiler/entries/DeriveEntries.h"
#include "compiler/entries/DeriveExtend.h"
#include "compiler/entries/DeriveParts.h"
#include "compiler/entries/DeriveSource.h"
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

namespace {

class Derive {
public:
  Derive(Operation *model, func::FuncOp forward, ArrayRef<std::string> wanted,
         LatentRows latent)
      : model(model), forward(forward), wanted(wanted), latent(latent) {
    for (func::FuncOp entry : kernel::entriesOf(model))
      can.push_back(entry.getName().str());
    present = can.size();
    // After fuse a program is flat, and no entry can be derived from it.
    if (!kernel::sizeArguments(forward))
      findParts();
  }

  Status run() {
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
    if (!whyNot.empty())
      return Status::done;
    const bool continues = isNew("extend") || isNew("next");
    if (encoder && (isNew(sourceName) || (continues && !has(sourceName))))
      deriveSource(forward, *encoder, decoder.cut);
    if (isNew("extend"))
      deriveExtend(forward, decoder, latent);
    if (isNew("next"))
      deriveNext(forward, decoder, latent);
    return Status::done;
  }

private:
  void findParts() {
    parts = partsOf(forward);
    for (const EntryPart &part : parts) {
      if (part.cut >= 0) {
        encoder = &parts.front();
        decoder = part;
      }
      add(part.name);
    }
    for (unsigned i = 0; !encoder && i < forward.getNumResults(); ++i)
      decoder.outputs.push_back(i);
    whyNot = whyNotExtend(forward, decoder);
    if (!whyNot.empty())
      return;
    if (encoder)
      add(sourceName);
    add("extend");
    add("next");
  }

  void add(StringRef name) {
    if (!llvm::is_contained(can, name))
      can.push_back(name.str());
  }
  bool has(StringRef name) const {
    return llvm::is_contained(llvm::ArrayRef(can).take_front(present), name);
  }

  Operation *model;
  func::FuncOp forward;
  ArrayRef<std::string> wanted;
  const LatentRows latent;
  std::vector<std::string> can; // those of the model, then those to derive
  size_t present = 0;
  SmallVector<EntryPart> parts;
  const EntryPart *encoder = nullptr;
  EntryPart decoder;
  std::string whyNot = "the model given has been through fuse";
};

} // namespace

Status mille::deriveEntries(Operation *model, ArrayRef<std::string> wanted,
                            LatentRows latent) {
  func::FuncOp forward = kernel::entryOf(model, "");
  if (!forward || wanted.empty())
    return Status::done;
  return Derive(model, forward, wanted, latent).run();
}
