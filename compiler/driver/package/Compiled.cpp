// Loads a package's shared library and runs it through the C API.
// Must not know how the code was made.
#include "compiler/driver/package/Compiled.h"

#include "compiler/driver/Reproducer.h"
#include "compiler/driver/machine/Machine.h"
#include "dialects/kernel/Signature.h"
#include "dialects/transformer/Training.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <cstring>
#include <limits>

using namespace mille;
using llvm::StringRef;

Compiled::Compiled(const Package &package, mlir::MLIRContext &context)
    : package(package), context(context) {}

Compiled::~Compiled() {
  if (session)
    api->mille_session_close(session);
  if (opened)
    api->mille_package_close(opened);
  library.unload();
}

static mlir::Location placeOf(mlir::MLIRContext &context, StringRef path) {
  return mlir::FileLineColLoc::get(&context, path, 0, 0);
}

// The exit status for a status of the runtime: whose mistake it is.
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
  char message[512] = "";
  if (library.load(path.c_str(), package.name.c_str(), message,
                   sizeof message) == MILLE_OK)
    return Status::done;
  mlir::emitError(placeOf(context, path)) << message;
  return Status::input;
}

// Whether to copy the weights into memory, where nobody else can change them:
// only if they take at most half of the free memory.
static bool worthCopying(const std::string &weights) {
  uint64_t bytes = 0;
  return !llvm::sys::fs::file_size(weights, bytes) &&
         bytes <= availableMemory() / 2;
}

Status Compiled::openWeights(const std::string &code, bool checkHash) {
  std::string weights = package.file("weights");
  if (!package.embedded && !llvm::sys::fs::exists(weights)) {
    mlir::emitError(placeOf(context, package.file("json")))
        << "the package has no weights: there is no " << weights
        << ", which --weights=none leaves out";
    return Status::input;
  }
  const char *path = package.embedded ? nullptr : weights.c_str();
  mille_options options = MILLE_OPTIONS_INIT;
  options.verify_hash = checkHash;
  // A trainer copies them anyway.
  options.copy_weights = path && !wishes.mapWeights &&
                         !package.entry(trainStepName) && worthCopying(weights);
  if (path && wishes.mapWeights)
    expectChangesOf(weights);
  if (!code.empty())
    options.isa = code.c_str();
  char message[512] = "";
  auto tryOpen = [&] {
    return api->mille_package_open(library.model(), path, &options, &opened,
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
                      std::unique_ptr<Compiled> &compiled,
                      const Wishes &wishes) {
  compiled.reset(new Compiled(package, context));
  compiled->wishes = wishes;
  if (Status status = compiled->load(); failed(status))
    return status;
  std::string code = StringRef(isa).split(':').first.str();
  if (code != isa)
    compiled->device = isa;
  if (Status status = compiled->openWeights(code, wishes.checkHash);
      failed(status))
    return status;
  return compiled->findEntry();
}

Status Compiled::findEntry() {
  if (!wishes.entry.empty())
    if (mille_status status =
            api->mille_package_find_entry(opened, wishes.entry.c_str(), &entry);
        status != MILLE_OK)
      return fail(status, api->mille_package_message(opened));
  mille_entry_info info = {};
  api->mille_package_entry(opened, entry, &info);
  inputs.resize(info.inputs);
  outputs.resize(info.outputs);
  for (size_t i = 0; i < info.inputs; ++i)
    api->mille_package_entry_input(opened, entry, i, &inputs[i]);
  for (size_t i = 0; i < info.outputs; ++i)
    api->mille_package_entry_output(opened, entry, i, &outputs[i]);
  size_t count = 0;
  api->mille_package_state_count(opened, &count);
  for (size_t i = 0; info.states && i < count; ++i) {
    mille_tensor state;
    api->mille_package_state(opened, i, &state);
    states.emplace_back(i, state);
  }
  return Status::done;
}

// Copies where a router of the run sends its rows to the end of the Routes.
static void addRoute(void *routes, const mille_choice *choice) {
  RoutedRows route;
  route.shape = {choice->rows, choice->entries};
  for (int64_t m = 0; m < choice->rows; ++m) {
    const float *logits = choice->logits + m * choice->logits_stride;
    route.logits.insert(route.logits.end(), logits, logits + choice->entries);
  }
  route.experts.assign(choice->experts,
                       choice->experts + choice->rows * choice->k);
  static_cast<Routes *>(routes)->push_back(std::move(route));
}

Status Compiled::createSession(unsigned threads) {
  if (session)
    api->mille_session_close(session);
  session = nullptr;
  std::vector<mille_size> most = sizeList();
  mille_status status = api->mille_session_create_on(
      opened, most.data(), most.size(), threads, device.c_str(), &session);
  if (status != MILLE_OK)
    return fail(status, api->mille_package_message(opened));
  api->mille_session_keep_padding(session, wishes.keepPadding);
  if (wishes.routes)
    (void)api->mille_session_watch_choices(session, addRoute, wishes.routes);
  return Status::done;
}

std::vector<mille_size> Compiled::sizeList() const {
  std::vector<mille_size> list;
  for (const auto &[name, value] : sizes)
    if (!derived.count(name))
      list.push_back({name.c_str(), value});
  return list;
}

//===-- Inputs and outputs ------------------------------------------------===//

// A shape as text: "[batch, tokens, 8]".
static std::string shapeText(const mille_tensor &tensor) {
  Shape shape;
  for (int d = 0; d < tensor.rank; ++d)
    shape.push_back(tensor.sizes[d] ? ShapeExtent(StringRef(tensor.sizes[d]))
                                    : ShapeExtent(tensor.shape[d]));
  return extentsText(shape);
}

std::vector<int64_t> Compiled::shapeOf(const mille_tensor &tensor) const {
  std::vector<int64_t> shape;
  for (int d = 0; d < tensor.rank; ++d)
    shape.push_back(tensor.sizes[d] ? sizes.at(tensor.sizes[d])
                                    : tensor.shape[d]);
  return shape;
}

Status Compiled::wrongInput(const llvm::Twine &text) {
  mlir::emitError(mlir::UnknownLoc::get(&context)) << text;
  return Status::input;
}

// Converts the numbers of `value` for the C API. False if one does not fit.
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

Status Compiled::checkNames(const Values &values) {
  for (const auto &[name, value] : values) {
    auto isNamed = [&, &name = name](const mille_tensor &t) {
      return name == t.name;
    };
    if (llvm::any_of(inputs, isNamed) ||
        llvm::any_of(llvm::make_second_range(states), isNamed))
      continue;
    std::string names;
    for (const mille_tensor &tensor : inputs)
      names += (names.empty() ? "" : ", ") + std::string(tensor.name);
    auto error = mlir::emitError(mlir::UnknownLoc::get(&context))
                 << "input " << name
                 << " is given but the model has none of that name";
    error.attachNote() << "its inputs are " << names;
    return Status::input;
  }
  return Status::done;
}

// The most tokens of a sequence that states whose rows are `size` hold after
// the run.
int64_t Compiled::neededRows(llvm::StringRef size, const Values &values) const {
  auto most = [&](llvm::StringRef input) {
    double most = 0;
    if (auto given = values.find(input.str()); given != values.end())
      for (double number : given->second.numbers)
        most = std::max(most, number);
    return int64_t(most);
  };
  const bool recalls = size == mille::sizes::source &&
                       values.count(kernel::sourceTokensName.str());
  if (recalls)
    return most(kernel::sourceTokensName);
  auto tokens = sizes.find(mille::sizes::tokens.str());
  return most(kernel::pastName) + (tokens == sizes.end() ? 0 : tokens->second);
}

// Fills inputBytes and sets the run's sizes.
Status Compiled::convert(const Values &values) {
  sizes.clear();
  if (Status status = checkNames(values); failed(status))
    return status;
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
  for (auto &[number, state] : states)
    if (state.sizes[2])
      sizes[state.sizes[2]] =
          wishes.context && state.sizes[2] == mille::sizes::context
              ? wishes.context
              : std::max<int64_t>(neededRows(state.sizes[2], values), 1);
  if (Status status = deriveSizes(); failed(status))
    return status;
  return checkSizes();
}

// Adds the sizes of outputs that follow from those of inputs.
Status Compiled::deriveSizes() {
  derived.clear();
  for (const mille_tensor &tensor : outputs)
    for (int d = 0; d < tensor.rank; ++d) {
      if (!tensor.sizes[d] || sizes.count(tensor.sizes[d]))
        continue;
      std::vector<mille_size> list = sizeList();
      int64_t value = 0;
      mille_status status = api->mille_package_size_value(
          opened, list.data(), list.size(), tensor.sizes[d], &value);
      if (status != MILLE_OK) // a side is too small
        return wrongInput(api->mille_package_message(opened));
      if (value == 0)
        continue;
      sizes[tensor.sizes[d]] = value;
      derived.insert(tensor.sizes[d]);
    }
  return Status::done;
}

Status Compiled::convert(const mille_tensor &tensor, const Value &value,
                         std::vector<char> &bytes) {
  if (tensor.type == MILLE_TYPE_I32 && !value.integer)
    return wrongInput("input " + llvm::Twine(tensor.name) +
                      " holds floats but must hold integers");
  bool agrees = int(value.shape.size()) == tensor.rank;
  for (int d = 0; agrees && d < tensor.rank; ++d)
    agrees = tensor.sizes[d]
                 ? sizes.try_emplace(tensor.sizes[d], value.shape[d])
                           .first->second == value.shape[d]
                 : tensor.shape[d] == value.shape[d];
  if (!agrees || llvm::is_contained(value.shape, 0)) {
    std::string expected = shapeText(tensor);
    for (int d = 0; d < tensor.rank; ++d)
      if (tensor.sizes[d] && sizes.count(tensor.sizes[d]))
        expected += ", " + std::string(tensor.sizes[d]) + " " +
                    std::to_string(sizes.at(tensor.sizes[d]));
    return wrongInput("input " + llvm::Twine(tensor.name) + " is " +
                      shapeText(value.shape) + " but must be " + expected);
  }
  if (!convertNumbers(value, tensor.type, bytes))
    return wrongInput("input " + llvm::Twine(tensor.name) +
                      " has a value that is no 32-bit integer");
  return Status::done;
}

// Fails if a shape has a size that no input determines, or that is no multiple.
Status Compiled::checkSizes() {
  for (const Package::Size &size : package.sizes)
    if (auto found = sizes.find(size.name);
        found != sizes.end() && found->second % size.multiple)
      return wrongInput(size.name + " is " + llvm::Twine(found->second) +
                        " but must be a multiple of " +
                        llvm::Twine(size.multiple));
  for (const std::vector<mille_tensor> *tensors : {&inputs, &outputs})
    for (const mille_tensor &tensor : *tensors)
      for (int d = 0; d < tensor.rank; ++d)
        if (tensor.sizes[d] && !sizes.count(tensor.sizes[d]))
          return wrongInput("no input says how many " +
                            (tensor.sizes[d] == mille::sizes::batch
                                 ? std::string("sequences")
                                 : tensor.sizes[d]) +
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

// Whether runs of the entry have this size; other sizes are only the session's.
bool Compiled::hasSize(llvm::StringRef name) const {
  for (const std::vector<mille_tensor> *tensors : {&inputs, &outputs})
    for (const mille_tensor &tensor : *tensors)
      for (int d = 0; d < tensor.rank; ++d)
        if (tensor.sizes[d] && name == tensor.sizes[d])
          return true;
  return false;
}

Status Compiled::runBound() {
  std::vector<mille_size> list;
  for (const mille_size &size : sizeList())
    if (hasSize(size.name))
      list.push_back(size);
  mille_status status =
      api->mille_session_run_entry(session, entry, list.data(), list.size(),
                                   inputPointers.data(), outputPointers.data());
  return status == MILLE_OK ? Status::done
                            : fail(status, api->mille_session_message(session));
}

// Converts an output, four bytes per number.
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
  if (Status status = takeStates(values); failed(status))
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
  giveStates(results);
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
