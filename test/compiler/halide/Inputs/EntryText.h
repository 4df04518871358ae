// MLIR text of a function whose size has a bound: it is then the entry of a
// model, whose sizes and operands have names.
#pragma once
#include <cstdint>
#include <string>

namespace mille::test {

struct EntryText {
  int64_t most; // of the size; 0: no bound, and a function without a model

  // The attributes of arguments.
  std::string size(const std::string &name) const {
    return only("kernel.size = \"" + name);
  }
  std::string input(const std::string &name) const {
    return only("transformer.name = \"" + name);
  }
  std::string output(const std::string &name) const {
    return only("kernel.output, transformer.name = \"" + name);
  }

  // The function in its model.
  std::string around(const std::string &function,
                     const std::string &size) const {
    return most ? "transformer.model @m attributes {max_" + size + " = " +
                      std::to_string(most) + " : i64} {\n" + function + "}\n"
                : function;
  }

private:
  std::string only(const std::string &attributes) const {
    return most ? " {" + attributes + "\"}" : "";
  }
};

} // namespace mille::test
