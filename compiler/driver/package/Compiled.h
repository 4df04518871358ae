// A package's code, loaded by dlopen and called through its own runtime's
// functions. Must not know how the code was made.
#pragma once
#include "compiler/driver/package/Package.h"
#include "compiler/interpret/Routes.h"
#include "loader/Library.h"

#include <map>
#include <memory>
#include <optional>
#include <set>

namespace mille {

class Compiled {
public:
  // The settings of an opened package.
  struct Wishes {
    std::string entry;      // "": the first
    bool checkHash = false; // check the hash of all weights
    bool keepPadding = false;
    int64_t context = 0; // tokens that states hold; 0: the run's number
    // Reads the weights where the system keeps their file: at once, and in
    // memory that processes share. A file that is cut meanwhile ends the
    // command.
    bool mapWeights = false;
    // Gets the experts of a run's rows; none of a device, and none of a package
    // whose runtime is of a build that did not tell them.
    Routes *routes = nullptr;
  };

  // Loads DIR/NAME.so and opens its weights. isa: "" for the best of this
  // machine; "opencl:1" or "opencl:NAME" for one device.
  static Status open(const Package &package, const std::string &isa,
                     mlir::MLIRContext &context,
                     std::unique_ptr<Compiled> &compiled, const Wishes &wishes);
  ~Compiled();

  // Makes a session for runs of up to `sizes`. Replaces an earlier session.
  Status createSession(unsigned threads);

  // Checks and converts `values`, makes a session of their size and runs it.
  // `values` may hold the contents of states before the run, under the states'
  // names; `results` holds their contents after it.
  Status run(const Values &values, unsigned threads, Values &results);

  // For measuring: bind once, then call runBound any number of times.
  Status bind(const Values &values, unsigned threads);
  // As if all tokens that states have room for had been run: the mask shows
  // them, whatever their keys and values are.
  Status showHeldTokens();
  Status runBound();
  Status profile(bool enable);
  std::vector<mille_profile> kernels();

  // Measures the peak of multiply-adds in registers of the session's device, in
  // 10^9 operations a second. Empty on the CPU.
  struct DevicePeak {
    std::string name;
    double f32 = 0, i32 = 0;
  };
  Status measureDevice(std::optional<DevicePeak> &peak);

  std::string isa();
  // As it was given, or "".
  const std::string &deviceName() const { return device; }
  size_t sessionBytes();

  // The open package, and the functions of its runtime.
  mille_package *handle() const { return opened; }
  const LibraryFunctions &functions() const { return *api; }
  // Emits an error with this message. The result says whose mistake the
  // runtime's status is.
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
  int64_t neededRows(llvm::StringRef size, const Values &values) const;
  Status checkSizes();
  Status deriveSizes();
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
  const LibraryFunctions *api = &library.functions();
  mille_package *opened = nullptr;
  std::string device; // for mille_session_create_on; "": the default
  mille_session *session = nullptr;
  Wishes wishes;
  size_t entry = 0;                     // its number
  std::map<std::string, int64_t> sizes; // of inputs; "context": of states
  std::set<std::string> derived;        // of these, those that follow
  std::vector<mille_tensor> inputs, outputs;
  std::vector<std::pair<size_t, mille_tensor>> states; // with their numbers
  std::vector<std::vector<char>> inputBytes;           // empty: absent
  std::vector<std::vector<float>> outputNumbers;
  std::vector<const void *> inputPointers;
  std::vector<float *> outputPointers;
};

} // namespace mille
