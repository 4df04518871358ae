// LLVM's own optimisations of a module, for any machine.
// Must not know what the module computes.
#pragma once

namespace llvm {
class Module;
class OptimizationLevel;
class TargetMachine;
} // namespace llvm

namespace mille {

// The default pipeline of a level. Without `unrollLoops` a loop over layers
// stays a loop for any number of layers.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              const llvm::OptimizationLevel &level, bool unrollLoops);

} // namespace mille
