// Copies the contents of a session's states from tensors before a run, and to
// tensors after it. Must not change a number: states hold f32, bf16, f16, i32,
// or bytes.
#include "compiler/driver/package/Compiled.h"
#include "dialects/transformer/Shape.h"

#include <cstring>

using namespace mille;

static size_t elementBytes(mille_type type) {
  return type == MILLE_TYPE_BF16 || type == MILLE_TYPE_F16 ? 2
         : type == MILLE_TYPE_I8                           ? 1
                                                           : 4;
}

// Whether elements are given as whole numbers: those of f16 are their bits.
static bool isWhole(mille_type type) {
  return type == MILLE_TYPE_I32 || type == MILLE_TYPE_I8 ||
         type == MILLE_TYPE_F16;
}

// Converts the bytes of a state to numbers; putNumber converts back.
static std::vector<double> numbersOf(llvm::ArrayRef<char> bytes,
                                     mille_type type) {
  const size_t each = elementBytes(type);
  std::vector<double> numbers;
  for (size_t at = 0; at < bytes.size(); at += each) {
    uint32_t word = 0;
    memcpy(&word, bytes.data() + at, each);
    if (type == MILLE_TYPE_BF16)
      word <<= 16;
    numbers.push_back(isWhole(type) ? double(int32_t(word))
                                    : llvm::bit_cast<float>(word));
  }
  return numbers;
}

static void putNumber(double number, mille_type type, char *into) {
  uint32_t word = isWhole(type) ? uint32_t(int32_t(number))
                                : llvm::bit_cast<uint32_t>(float(number));
  if (type == MILLE_TYPE_BF16) // the number is a bf16: its low bits are 0
    word >>= 16;
  memcpy(into, &word, elementBytes(type));
}

// Whether a state is given as plain bytes, [1, batch, 1, bytes]: one whose
// entries have windows has fewer rows in some, and 4 bytes more at its end.
static bool isPlain(size_t bytes) { return bytes % 16 == 4; }

static mille_type heldType(const mille_tensor &state, size_t bytes) {
  return isPlain(bytes) ? MILLE_TYPE_I8 : state.type;
}

// The shape of a state in this session, which may hold more rows than the
// context. A device's has a mark of 8 bytes at its end, which is no row's.
std::vector<int64_t> Compiled::stateShape(size_t number,
                                          const mille_tensor &state) const {
  std::vector<int64_t> shape = shapeOf(state);
  size_t bytes = 0;
  api->mille_session_state_bytes(session, number, &bytes);
  if (isPlain(bytes))
    return {1, shape[1], 1, int64_t(bytes)};
  bytes -= bytes % 16;
  shape[2] = int64_t(bytes / elementBytes(state.type)) / (shape[0] * shape[3]);
  return shape;
}

// A value has the shape [entries, batch, rows, columns], and a session copies
// one sequence at a time, [entries, rows, columns]. The order of elements is
// that of the session's memory: keys and values lie in panels, a device's in
// rows.
Status Compiled::takeStates(const Values &values) {
  for (auto &[number, state] : states) {
    auto given = values.find(state.name);
    if (given == values.end())
      continue;
    std::vector<int64_t> shape = stateShape(number, state);
    if (given->second.shape != shape)
      return wrongInput("state " + llvm::Twine(state.name) + " is " +
                        shapeText(given->second.shape) + " but must be " +
                        shapeText(shape));
    const int64_t part = shape[2] * shape[3];
    for (int64_t b = 0; b < shape[1]; ++b) {
      size_t size = 0;
      api->mille_session_state_bytes(session, number, &size);
      const mille_type type = heldType(state, size);
      const size_t each = elementBytes(type);
      std::vector<char> bytes(size);
      for (int64_t e = 0; e < shape[0]; ++e)
        for (int64_t i = 0; i < part; ++i)
          putNumber(given->second.numbers[(e * shape[1] + b) * part + i], type,
                    bytes.data() + (e * part + i) * each);
      if (mille_status status = api->mille_session_write_state(
              session, number, b, bytes.data(), bytes.size());
          status != MILLE_OK)
        return fail(status, api->mille_session_message(session));
    }
  }
  return Status::done;
}

Status Compiled::showHeldTokens() {
  for (auto &[number, state] : states) {
    if (llvm::StringRef(state.name) != "mask")
      continue;
    const std::vector<int64_t> shape = stateShape(number, state);
    size_t size = 0;
    api->mille_session_state_bytes(session, number, &size);
    std::vector<char> bytes(size);
    for (int64_t b = 0; b < shape[1]; ++b) {
      mille_status status =
          api->mille_session_read_state(session, number, b, bytes.data(), size);
      for (int64_t row = 0; row < shape[2]; ++row)
        putNumber(1, state.type, bytes.data() + row * elementBytes(state.type));
      if (status == MILLE_OK)
        status = api->mille_session_write_state(session, number, b,
                                                bytes.data(), size);
      if (status != MILLE_OK)
        return fail(status, api->mille_session_message(session));
    }
  }
  return Status::done;
}

void Compiled::giveStates(Values &results) {
  for (auto &[number, state] : states) {
    Value &value = results[state.name];
    value.shape = stateShape(number, state);
    size_t size = 0;
    api->mille_session_state_bytes(session, number, &size);
    const mille_type type = heldType(state, size);
    value.integer = isWhole(type);
    const int64_t batch = value.shape[1],
                  part = value.shape[2] * value.shape[3];
    value.numbers.resize(value.shape[0] * batch * part);
    for (int64_t b = 0; b < batch; ++b) {
      std::vector<char> bytes(size);
      api->mille_session_read_state(session, number, b, bytes.data(), size);
      std::vector<double> numbers = numbersOf(bytes, type);
      for (int64_t e = 0; e < value.shape[0]; ++e)
        std::copy_n(numbers.begin() + e * part, part,
                    value.numbers.begin() + (e * batch + b) * part);
    }
  }
}
