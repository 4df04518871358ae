// Loads a package's shared library and runs it through the C API.
// Must not know how the code was made.
#include "compiler/driver/package/Compiled.h"

#include "compiler/driver/machine/Machine.h"
#include "dialects/kernel/Signature.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <cstring>
#include <dlfcn.h>
#include <limits>

using namespace mille;
using llvm::StringRef;

// The library brings its own copy of the runtime, so these are looked up in it.
struct Compiled::Functions {
#define MILLE_FUNCTIONS(X)                                                     \
  X(mille_package_open)                                                        \
  X(mille_package_close)                                                       \
  X(mille_package_message)                                                     \
  X(mille_package_input_count)                                                 \
  X(mille_package_output_count)                                                \
  X(mille_package_input)                                                       \
  X(mille_package_output)                                                      \
  X(mille_package_isa)                                                         \
  X(mille_session_create_on)                                                   \
  X(mille_session_close)                                                       \
  X(mille_session_keep_padding)                                                \
  X(mille_session_run_for)                                                     \
  X(mille_session_message)                                                     \
  X(mille_session_memory)                                                      \
  X(mille_session_profile)                                                     \
  X(mille_session_kernel_count)                                                \
  X(mille_session_kernel)                                                      \
  X(mille_session_measure_device)
#define DECLARE(name) decltype(&::name) name = nullptr;
  MILLE_FUNCTIONS(DECLARE)
#undef DECLARE
  const ::mille_model *(*model)() = nullptr;
};

Compiled::Compiled(const Package &package, mlir::MLIRContext &context)
    : package(package), context(context), api(new Functions) {}

Compiled::~Compiled() {
  if (session)
    api->mille_session_close(session);
  if (opened)
    api->mille_package_close(opened);
  if (library)
    dlclose(library);
}

static mlir::Location placeOf(mlir::MLIRContext &context, StringRef path) {
  return mlir::FileLineColLoc::get(&context, path, 0, 0);
}

// What a status of the runtime says about whose mistake it is.
Status Compiled::fail(mille_status status, const char *message) {
  mlir::emitError(placeOf(context, package.file("so"))) << message;
  switch (status) {
  case MILLE_INVALID_INPUT:
  case MILLE_TOO_LARGE:
  case MILLE_FILE_ERROR:
  case MILLE_BAD_WEIGHTS:
    return Status::input;
  case MILLE_OUT_OF_MEMORY:
  case MILLE_UNSUPPORTED_CPU:
  case MILLE_NO_DEVICE:
    return Status::machine;
  default:
    return Status::bug;
  }
}

Status Compiled::load() {
  std::string path = package.file("so");
  if (path.find('/') == std::string::npos)
    path = "./" + path;
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    mlir::emitError(placeOf(context, path))
        << "the package's library cannot be loaded: " << (why ? why : "");
    return Status::input;
  }
  bool all = true;
  auto find = [&](const std::string &name) {
    void *symbol = dlsym(library, name.c_str());
    if (!symbol && all)
      mlir::emitError(placeOf(context, path))
          << "the package's library has no function " << name;
    all &= symbol != nullptr;
    return symbol;
  };
#define FIND(name)                                                             \
  api->name = reinterpret_cast<decltype(api->name)>(find(#name));
  MILLE_FUNCTIONS(FIND)
#undef FIND
  api->model =
      reinterpret_cast<decltype(api->model)>(find(package.name + "_model"));
  return all ? Status::done : Status::input;
}

// A file in memory that nobody else can change, where half of what is free is
// enough for it.
static bool worthCopying(const std::string &weights) {
  uint64_t bytes = 0;
  return !llvm::sys::fs::file_size(weights, bytes) &&
         bytes <= availableMemory() / 2;
}

Status Compiled::openWeights(const std::string &code, bool checkHash) {
  std::string weights = package.file("weights");
  const char *path = package.embedded ? nullptr : weights.c_str();
  mille_options options = MILLE_OPTIONS_INIT;
  options.verify_hash = checkHash;
  options.copy_weights = path && worthCopying(weights);
  if (!code.empty())
    options.isa = code.c_str();
  char message[512] = "";
  auto tryOpen = [&] {
    return api->mille_package_open(api->model(), path, &options, &opened,
                                   message, sizeof message);
  };
  mille_status status = tryOpen();
  if (status == MILLE_OUT_OF_MEMORY && options.copy_weights) {
    options.copy_weights = 0;
    status = tryOpen();
  }
  if (status != MILLE_INVALID_ARGUMENT || !package.embedded)
    return status == MILLE_OK ? Status::done : fail(status, message);
  mlir::emitError(placeOf(context, package.file("json")))
      << "weights_embedded is true but " << package.file("so")
      << " holds no weights";
  return Status::input;
}

Status Compiled::open(const Package &package, const std::string &isa,
                      mlir::MLIRContext &context,
                      std::unique_ptr<Compiled> &compiled, bool checkHash) {
  compiled.reset(new Compiled(package, context));
  if (Status status = compiled->load(); failed(status))
    return status;
  std::string code = StringRef(isa).split(':').first.str();
  if (code != isa)
    compiled->device = isa;
  if (Status status = compiled->openWeights(code, checkHash); failed(status))
    return status;
  Functions &api = *compiled->api;
  auto list = [&](auto countOf, auto describe,
                  std::vector<mille_tensor> &into) {
    size_t count = 0;
    countOf(compiled->opened, &count);
    into.resize(count);
    for (size_t i = 0; i < count; ++i)
      describe(compiled->opened, i, &into[i]);
  };
  list(api.mille_package_input_count, api.mille_package_input,
       compiled->inputs);
  list(api.mille_package_output_count, api.mille_package_output,
       compiled->outputs);
  return Status::done;
}

Status Compiled::createSession(unsigned threads) {
  if (session)
    api->mille_session_close(session);
  session = nullptr;
  mille_status status = api->mille_session_create_on(opened, &sizes, threads,
                                                     device.c_str(), &session);
  if (status != MILLE_OK)
    return fail(status, api->mille_package_message(opened));
  api->mille_session_keep_padding(session, keepPadding);
  return Status::done;
}

//===-- Inputs and outputs ------------------------------------------------===//

static std::string sizeText(int64_t extent) {
  return extent == MILLE_BATCH            ? sizes::batch.str()
         : extent == MILLE_TOKENS         ? sizes::tokens.str()
         : extent == MILLE_DECODER_TOKENS ? sizes::decoderTokens.str()
                                          : std::to_string(extent);
}

static std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  return "[" + llvm::join(llvm::map_range(shape, sizeText), ", ") + "]";
}

int64_t &Compiled::sizeOf(int64_t extent) {
  return extent == MILLE_BATCH    ? sizes.batch
         : extent == MILLE_TOKENS ? sizes.tokens
                                  : sizes.decoder_tokens;
}

std::vector<int64_t> Compiled::shapeOf(const mille_tensor &tensor) {
  std::vector<int64_t> shape(tensor.shape, tensor.shape + tensor.rank);
  for (int64_t &extent : shape)
    if (extent < 0)
      extent = sizeOf(extent);
  return shape;
}

Status Compiled::wrongInput(const llvm::Twine &text) {
  mlir::emitError(mlir::UnknownLoc::get(&context)) << text;
  return Status::input;
}

// The numbers of `value` as the C API takes them. False: one does not fit.
static bool convertNumbers(const Value &value, mille_type type,
                           std::vector<char> &bytes) {
  bytes.resize(value.numbers.size() * 4);
  for (size_t i = 0; i < value.numbers.size(); ++i) {
    double number = value.numbers[i];
    int32_t integer = 0;
    float real = number;
    if (type == MILLE_TYPE_I32) {
      if (!(number >= std::numeric_limits<int32_t>::min() &&
            number <= std::numeric_limits<int32_t>::max()))
        return false;
      integer = number;
    }
    memcpy(bytes.data() + i * 4,
           type == MILLE_TYPE_I32 ? static_cast<void *>(&integer) : &real, 4);
  }
  return true;
}

// Fills inputBytes and finds the sizes.
Status Compiled::convert(const Values &values) {
  sizes = {sizeof(mille_sizes), 0, 0, 0};
  for (const auto &[name, value] : values) {
    bool known = llvm::any_of(inputs, [&, &name = name](const mille_tensor &t) {
      return name == t.name;
    });
    if (!known) {
      std::string names;
      for (const mille_tensor &tensor : inputs)
        names += (names.empty() ? "" : ", ") + std::string(tensor.name);
      auto error = mlir::emitError(mlir::UnknownLoc::get(&context))
                   << "input " << name
                   << " is given but the model has none of that name";
      error.attachNote() << "its inputs are " << names;
      return Status::input;
    }
  }
  inputBytes.assign(inputs.size(), {});
  for (size_t i = 0; i < inputs.size(); ++i) {
    const mille_tensor &tensor = inputs[i];
    auto given = values.find(tensor.name);
    if (given == values.end()) {
      if (tensor.optional)
        continue;
      return wrongInput("input " + llvm::Twine(tensor.name) + " is missing");
    }
    if (Status status = convert(tensor, given->second, inputBytes[i]);
        failed(status))
      return status;
  }
  return checkSizes();
}

Status Compiled::convert(const mille_tensor &tensor, const Value &value,
                         std::vector<char> &bytes) {
  if (tensor.type == MILLE_TYPE_I32 && !value.integer)
    return wrongInput("input " + llvm::Twine(tensor.name) +
                      " holds floats but must hold integers");
  llvm::ArrayRef<int64_t> shape(tensor.shape, tensor.rank);
  bool agrees = value.shape.size() == shape.size();
  for (size_t d = 0; agrees && d < shape.size(); ++d) {
    if (shape[d] >= 0)
      agrees = shape[d] == value.shape[d];
    else if (int64_t &size = sizeOf(shape[d]); size == 0)
      size = value.shape[d];
    else
      agrees = size == value.shape[d];
  }
  if (!agrees || llvm::is_contained(value.shape, 0)) {
    std::string expected = shapeText(shape);
    for (int64_t extent : {MILLE_BATCH, MILLE_TOKENS, MILLE_DECODER_TOKENS})
      if (llvm::is_contained(shape, extent) && sizeOf(extent))
        expected +=
            ", " + sizeText(extent) + " " + std::to_string(sizeOf(extent));
    return wrongInput("input " + llvm::Twine(tensor.name) + " is " +
                      shapeText(value.shape) + " but must be " + expected);
  }
  if (!convertNumbers(value, tensor.type, bytes))
    return wrongInput("input " + llvm::Twine(tensor.name) +
                      " has a value that is no 32-bit integer");
  return Status::done;
}

// Every size in a shape is known.
Status Compiled::checkSizes() {
  for (const std::vector<mille_tensor> *tensors : {&inputs, &outputs})
    for (const mille_tensor &tensor : *tensors)
      for (int d = 0; d < tensor.rank; ++d)
        if (tensor.shape[d] < 0 && sizeOf(tensor.shape[d]) == 0)
          return wrongInput("no input says how many " +
                            llvm::Twine(tensor.shape[d] == MILLE_BATCH
                                            ? "sequences"
                                            : sizeText(tensor.shape[d])) +
                            " there are");
  return Status::done;
}

Status Compiled::bind(const Values &values, unsigned threads) {
  if (Status status = convert(values); failed(status))
    return status;
  if (Status status = createSession(threads); failed(status))
    return status;
  inputPointers.clear();
  for (std::vector<char> &bytes : inputBytes)
    inputPointers.push_back(bytes.empty() ? nullptr : bytes.data());
  outputNumbers.resize(outputs.size());
  outputPointers.clear();
  for (size_t i = 0; i < outputs.size(); ++i) {
    size_t size = 1;
    for (int64_t extent : shapeOf(outputs[i]))
      size *= extent;
    outputNumbers[i].assign(size, 0.0f);
    outputPointers.push_back(outputNumbers[i].data());
  }
  return Status::done;
}

Status Compiled::runBound() {
  mille_status status = api->mille_session_run_for(
      session, &sizes, inputPointers.data(), outputPointers.data());
  return status == MILLE_OK ? Status::done
                            : fail(status, api->mille_session_message(session));
}

// What a run wrote, four bytes each.
static std::vector<double> numbersOf(const std::vector<float> &written,
                                     bool integer) {
  std::vector<double> numbers(written.begin(), written.end());
  for (size_t i = 0; integer && i < written.size(); ++i) {
    int32_t number;
    memcpy(&number, &written[i], sizeof number);
    numbers[i] = number;
  }
  return numbers;
}

Status Compiled::run(const Values &values, unsigned threads, Values &results) {
  if (Status status = bind(values, threads); failed(status))
    return status;
  if (Status status = runBound(); failed(status))
    return status;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Value &value = results[outputs[i].name];
    for (int64_t extent : shapeOf(outputs[i]))
      value.shape.push_back(extent);
    value.integer = outputs[i].type == MILLE_TYPE_I32;
    value.numbers = numbersOf(outputNumbers[i], value.integer);
  }
  return Status::done;
}

//===-- Measuring ---------------------------------------------------------===//

Status Compiled::profile(bool enable) {
  mille_status status = api->mille_session_profile(session, enable);
  return status == MILLE_OK ? Status::done
                            : fail(status, api->mille_session_message(session));
}

std::vector<mille_profile> Compiled::kernels() {
  size_t count = 0;
  api->mille_session_kernel_count(session, &count);
  std::vector<mille_profile> profiles(count);
  for (size_t i = 0; i < count; ++i)
    api->mille_session_kernel(session, i, &profiles[i]);
  return profiles;
}

Status Compiled::measureDevice(std::optional<DevicePeak> &peak) {
  mille_device device;
  double f32 = 0, i32 = 0;
  mille_status status =
      api->mille_session_measure_device(session, &device, &f32, &i32);
  if (status == MILLE_INVALID_ARGUMENT)
    return Status::done;
  if (status != MILLE_OK)
    return fail(status, api->mille_package_message(opened));
  peak = {device.name, f32, i32};
  return Status::done;
}

std::string Compiled::isa() {
  const char *name = nullptr;
  api->mille_package_isa(opened, &name);
  return name ? name : "";
}

size_t Compiled::sessionBytes() {
  size_t bytes = 0;
  api->mille_session_memory(session, &bytes);
  return bytes;
}
