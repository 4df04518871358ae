// A package's code, loaded: its own C functions (runtime/mille.h) by dlopen.
// Must not know how the code was made.
#pragma once
#include "compiler/driver/package/Package.h"
#include "compiler/interpret/Interpret.h"
#include "runtime/mille.h"

#include <memory>
#include <optional>

namespace mille {

class Compiled {
public:
  // Loads DIR/NAME.so and opens its weights. `isa`: "" for the best;
  // "DEVICES:1", "DEVICES:NAME" for one of the devices. With `checkHash` all of
  // the weights are compared with what was compiled.
  static Status open(const Package &package, const std::string &isa,
                     mlir::MLIRContext &context,
                     std::unique_ptr<Compiled> &compiled,
                     bool checkHash = false);
  ~Compiled();

  bool keepPadding = false; // of sessions made from then on

  // Room for runs of up to `sizes`. Replaces an earlier session.
  Status createSession(unsigned threads);

  // Checks and converts `values`, makes a session of their size and runs it.
  Status run(const Values &values, unsigned threads, Values &results);

  // For measuring: binds once, then runs as often as one likes.
  Status bind(const Values &values, unsigned threads);
  Status runBound();
  Status profile(bool enable);
  std::vector<mille_profile> kernels();

  // Multiply-adds in registers of the device that the session is on, in 10^9
  // operations a second, measured now. Nothing on the CPU.
  struct DevicePeak {
    std::string name;
    double f32 = 0, i32 = 0;
  };
  Status measureDevice(std::optional<DevicePeak> &peak);

  std::string isa();
  size_t sessionBytes();

private:
  struct Functions;
  Compiled(const Package &package, mlir::MLIRContext &context);
  Status load();
  Status openWeights(const std::string &code, bool checkHash);
  Status convert(const Values &values);
  Status convert(const mille_tensor &tensor, const Value &value,
                 std::vector<char> &bytes);
  Status checkSizes();
  int64_t &sizeOf(int64_t extent);
  std::vector<int64_t> shapeOf(const mille_tensor &tensor);
  Status fail(mille_status status, const char *message);
  Status wrongInput(const llvm::Twine &text);

  const Package &package;
  mlir::MLIRContext &context;
  void *library = nullptr;
  std::unique_ptr<Functions> api;
  mille_package *opened = nullptr;
  std::string device; // as mille_session_create_on takes it; "": the default
  mille_session *session = nullptr;
  mille_sizes sizes = {sizeof(mille_sizes), 0, 0, 0}; // of the inputs
  std::vector<mille_tensor> inputs, outputs;
  std::vector<std::vector<char>> inputBytes; // empty: absent
  std::vector<std::vector<float>> outputNumbers;
  std::vector<const void *> inputPointers;
  std::vector<float *> outputPointers;
};

} // namespace mille
