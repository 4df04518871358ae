// Which tokens of a sequence a masked language model has to guess: what the
// runtime and the loader share. Must keep nothing: a mask follows from numbers
// that name its sequence, whatever was drawn before.
#include "runtime/Philox.h"
#include "runtime/mille.h"

namespace {

bool isShare(double number) { return number >= 0 && number <= 1; }

// Word 0 says whether the token is chosen, 1 what becomes of it, 2 which id
// takes its place. The key's second half keeps them apart from dropout's.
mille::Philox drawn(uint64_t seed, uint64_t epoch, uint64_t sequence,
                    size_t place) {
  const uint32_t counter[4] = {(uint32_t)place, (uint32_t)sequence,
                               (uint32_t)(sequence >> 32), (uint32_t)epoch};
  return mille::Philox(counter, (uint32_t)seed,
                       (uint32_t)(seed >> 32) ^ 0x6d61736bu);
}

bool isBelow(uint32_t word, double share) {
  return (double)word < share * 4294967296.0;
}

void hide(const mille_masking &masking, const mille::Philox &words,
          int32_t &token) {
  if (isBelow(words.word[1], masking.replaced))
    token = masking.id;
  else if (isBelow(words.word[1], masking.replaced + masking.random))
    token = (int32_t)((uint64_t)words.word[2] * (uint64_t)masking.ids >> 32);
}

} // namespace

extern "C" mille_status
mille_mask_tokens(const mille_masking *masking, uint64_t seed, uint64_t epoch,
                  uint64_t sequence, const uint8_t *never, size_t count,
                  int32_t *tokens, int32_t *labels, size_t *chosen) {
  if (!masking || !tokens || !labels || !chosen || !isShare(masking->rate) ||
      !isShare(masking->replaced) || !isShare(masking->random) ||
      masking->replaced + masking->random > 1 || masking->ids <= 0 ||
      masking->id < 0 || masking->id >= masking->ids)
    return MILLE_INVALID_ARGUMENT;
  size_t least = count; // the place that is chosen where no other is
  uint32_t leastWord = 0;
  *chosen = 0;
  for (size_t at = 0; at < count; ++at) {
    labels[at] = -100;
    if (never && never[at])
      continue;
    const mille::Philox words = drawn(seed, epoch, sequence, at);
    if (least == count || words.word[0] < leastWord) {
      least = at;
      leastWord = words.word[0];
    }
    if (!isBelow(words.word[0], masking->rate))
      continue;
    labels[at] = tokens[at];
    hide(*masking, words, tokens[at]);
    ++*chosen;
  }
  if (*chosen == 0 && least < count) {
    labels[least] = tokens[least];
    hide(*masking, drawn(seed, epoch, sequence, least), tokens[least]);
    *chosen = 1;
  }
  return MILLE_OK;
}
