// Compares a weights file with the model that was compiled with it: each way to
// be wrong has its own sentence. Must not read past the size that the file has.
#include "runtime/Weights.h"

#include <string.h>

using ull = unsigned long long;

extern "C" uint64_t mille_weights_hash(uint64_t hash, const void *data,
                                       uint64_t bytes) {
  const char *next = static_cast<const char *>(data);
  for (; bytes;) {
    uint64_t word = 0, part = bytes < 8 ? bytes : 8;
    memcpy(&word, next, part);
    hash = (hash ^ word) * 1099511628211ull;
    next += part;
    bytes -= part;
  }
  return hash;
}

namespace mille {

namespace {

constexpr uint64_t alignment = 64;

// The header's words of itself and of the model.
mille_status checkHeader(const mille_model &model, mille_weights_header &header,
                         uint64_t bytes, const char *path, Message &message) {
  if (memcmp(header.magic, MILLE_WEIGHTS_MAGIC, sizeof header.magic) != 0)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s is not a Mille weights file: it does not begin with "
                       "MILLEWT and the byte 1",
                       path);
  if (header.version > MILLE_WEIGHTS_VERSION)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has weights version %u but this runtime reads "
                       "versions up to %u: a newer Mille wrote it",
                       path, header.version, MILLE_WEIGHTS_VERSION);
  if (header.version == 0)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has weights version 0 but versions begin at 1",
                       path);
  header.model[sizeof header.model - 1] = 0;
  bool same = strncmp(header.model, model.name, sizeof header.model - 1) == 0;
  // A message is text, whatever the file holds.
  for (char *c = header.model; *c; ++c)
    *c = *c >= ' ' && *c <= '~' ? *c : '?';
  if (!same)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has the weights of model %s but the code is of %s",
                       path, header.model, model.name);
  if (bytes != header.total_bytes)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s is %llu bytes long but its header says %llu", path,
                       (ull)bytes, (ull)header.total_bytes);
  if (bytes != model.weights_bytes)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s is %llu bytes long but %s was compiled with %llu",
                       path, (ull)bytes, model.name, (ull)model.weights_bytes);
  if (header.hash != model.weights_hash)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has hash %016llx but %s was compiled with weights "
                       "of hash %016llx",
                       path, (ull)header.hash, model.name,
                       (ull)model.weights_hash);
  return MILLE_OK;
}

// Checks that the parts of the file follow one another with the code's sizes.
mille_status checkParts(const mille_model &model,
                        const mille_weights_header &header, uint64_t bytes,
                        const char *path, Message &message) {
  uint64_t count = model.place_count;
  for (uint64_t s = 0; s < model.stack_count; ++s)
    count += model.stacks[s].layers * model.stacks[s].row_entries;
  if (header.table_count != count)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has a table of %llu entries but %s reads %llu", path,
                       (ull)header.table_count, model.name, (ull)count);
  if (header.table_offset != sizeof header)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has its table at %llu but its header ends at %llu",
                       path, (ull)header.table_offset, (ull)sizeof header);
  uint64_t end = sizeof header + count * 8;
  if (end > bytes)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has a table up to %llu but is %llu bytes long", path,
                       (ull)end, (ull)bytes);
  uint64_t tensors = (end + alignment - 1) / alignment * alignment;
  if (header.data_offset != tensors)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has its tensors at %llu but its table lets them "
                       "begin at %llu",
                       path, (ull)header.data_offset, (ull)tensors);
  if (tensors > bytes)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has its tensors at %llu but is %llu bytes long",
                       path, (ull)tensors, (ull)bytes);
  return MILLE_OK;
}

mille_status checkBodies(const mille_model &model, const uint64_t *table,
                         const char *path, Message &message) {
  for (uint64_t s = 0; s < model.stack_count; ++s) {
    const mille_stack_info &stack = model.stacks[s];
    for (uint64_t layer = 0; layer < stack.layers; ++layer) {
      uint64_t row = stack.first_entry + layer * stack.row_entries;
      if (table[row] >= stack.bodies)
        return message.set(MILLE_BAD_WEIGHTS,
                           "%s has body %llu at entry %llu of its table but %s "
                           "has %llu bodies of layers there",
                           path, (ull)table[row], (ull)row, model.name,
                           (ull)stack.bodies);
    }
  }
  return MILLE_OK;
}

// `bytes` of tensors; what is read at each place lies in them.
mille_status checkPlaces(const mille_model &model, const uint64_t *table,
                         uint64_t bytes, const char *path, Message &message) {
  mille_status status = MILLE_OK;
  eachPlace(model, table, [&](uint64_t entry, uint64_t read) {
    uint64_t place = table[entry];
    if (place % alignment)
      status = message.set(MILLE_BAD_WEIGHTS,
                           "%s has %llu at entry %llu of its table but tensors "
                           "begin at multiples of 64",
                           path, (ull)place, (ull)entry);
    else if (place > bytes || read > bytes - place)
      status = message.set(MILLE_BAD_WEIGHTS,
                           "%s has %llu at entry %llu of its table, where %s "
                           "reads %llu bytes, but its tensors are %llu bytes",
                           path, (ull)place, (ull)entry, model.name, (ull)read,
                           (ull)bytes);
    return status == MILLE_OK;
  });
  return status;
}

} // namespace

mille_status checkWeights(const mille_model &model, const Weights &weights,
                          const char *path, bool verifyHash, Message &message) {
  const uint64_t bytes = weights.bytes;
  mille_weights_header header;
  memcpy(&header, weights.data, sizeof header);
  mille_status status = checkHeader(model, header, bytes, path, message);
  if (status == MILLE_OK)
    status = checkParts(model, header, bytes, path, message);
  if (status == MILLE_OK)
    status = checkBodies(model, weights.table, path, message);
  if (status == MILLE_OK)
    status = checkPlaces(model, weights.table,
                         bytes - header.data_offset + drawnBytes(model), path,
                         message);
  if (status != MILLE_OK)
    return status;
  // An entry that was moved to where another tensor lies.
  const char *begin = weights.data + sizeof header;
  uint64_t hash = mille_weights_hash(MILLE_HASH_START, begin,
                                     header.data_offset - sizeof header);
  if (hash != model.table_hash)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has a table of hash %016llx but %s was compiled "
                       "with one of %016llx: the file is damaged",
                       path, (ull)hash, model.name, (ull)model.table_hash);
  if (!verifyHash)
    return MILLE_OK;
  hash = mille_weights_hash(hash, weights.data + header.data_offset,
                            bytes - header.data_offset);
  if (hash != header.hash)
    return message.set(MILLE_BAD_WEIGHTS,
                       "%s has contents of hash %016llx but its header says "
                       "%016llx: the file is damaged",
                       path, (ull)hash, (ull)header.hash);
  return MILLE_OK;
}

} // namespace mille
