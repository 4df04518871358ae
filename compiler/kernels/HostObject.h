// Makes objects of host code by LLVM, for any x86-64: which instruction set a
// kernel has is chosen at run time. Must not optimise.
#pragma once
#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mille {

// The code generator for host code. Null, with a sentence in `problem`, where
// LLVM has none.
std::unique_ptr<llvm::TargetMachine> hostMachine(std::string &problem);

// A relocatable object with position-independent code. Sets the module's
// triple and layout.
bool makeHostObject(llvm::Module &module, std::string &object,
                    std::string &problem);

} // namespace mille
