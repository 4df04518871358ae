// A package's code, loaded by dlopen and called through its own runtime's
// functions. Must not know how the code was made.
#pragma once
#include "compiler/driver/package/Package.h"
#include "compiler/interpret/Interpret.h"
#include "loader/Library.h"

#include <map>
#include <memory>
#include <optional>

namespace mille {

class Compiled {
public:
  // What a package is opened for.
  struct Wishes {
    std::string entry;      // "": the first
    bool checkHash = false; // compare all weights with what was compiled
    bool keepPadding = false;
    int64_t context = 0; // tokens that states hold; 0: those of the run
  };

  // Loads DIR/NAME.so and opens its weights. `isa`: "" for the best;
  // "DEVICES:1", "DEVICES:NAME" for one of the devices.
  static Status open(const Package &package, const std::string &isa,
                     mlir::MLIRContext &context,
                     std::unique_ptr<Compiled> &compiled, const Wishes &wishes);
  ~Compiled();

  // Room for runs of up to `sizes`. Replaces an earlier session.
  Status createSession(unsigned threads);

  // Checks and converts `values`, makes a session of their size and runs it.
  // What states hold before the run may be among `values`, by the states'
  // names; what they hold after it is among `results`.
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

  // The package that is open, and the functions of its runtime.
  mille_package *handle() const { return opened; }
  const mille_functions &functions() const { return *api; }
  // An error with this message; whose mistake the runtime's status is.
  Status fail(mille_status status, const char *message);

private:
  Compiled(const Package &package, mlir::MLIRContext &context);
  Status load();
  Status findEntry();
  Status openWeights(const std::string &code, bool checkHash);
  Status convert(const Values &values);
  Status convert(const mille_tensor &tensor, const Value &value,
                 std::vector<char> &bytes);
  Status checkNames(const Values &values);
  int64_t neededContext(const Values &values) const;
  Status checkSizes();
  std::vector<int64_t> stateShape(size_t number,
                                  const mille_tensor &state) const;
  Status takeStates(const Values &values);
  void giveStates(Values &results);
  std::vector<int64_t> shapeOf(const mille_tensor &tensor) const;
  bool hasSize(llvm::StringRef name) const;
  std::vector<mille_size> sizeList() const;
  Status wrongInput(const llvm::Twine &text);

  const Package &package;
  mlir::MLIRContext &context;
  Library library;
  const mille_functions *api = &library.functions();
  mille_package *opened = nullptr;
  std::string device; // as mille_session_create_on takes it; "": the default
  mille_session *session = nullptr;
  Wishes wishes;
  size_t entry = 0;                     // its number
  std::map<std::string, int64_t> sizes; // of the inputs; context: of the states
  std::vector<mille_tensor> inputs, outputs;
  std::vector<std::pair<size_t, mille_tensor>> states; // number, what it is
  std::vector<std::vector<char>> inputBytes;           // empty: absent
  std::vector<std::vector<float>> outputNumbers;
  std::vector<const void *> inputPointers;
  std::vector<float *> outputPointers;
};

} // namespace mille
