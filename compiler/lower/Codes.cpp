// Words of the dialects are passed to the runtime as the numbers that
// runtime/abi.h has for them. Must hold no code.
#include "dialects/transformer/Transformer.h"
#include "runtime/abi.h"

namespace mille::lower {
namespace {

template <typename Word> constexpr bool isCode(Word word, uint32_t code) {
  return static_cast<uint32_t>(word) == code;
}
using transformer::GroupScore;
using transformer::LengthKind;
using transformer::Pool;
using transformer::RouterScore;
static_assert(isCode(Pool::first, MILLE_POOL_FIRST));
static_assert(isCode(Pool::last, MILLE_POOL_LAST));
static_assert(isCode(Pool::first_id, MILLE_POOL_FIRST_ID));
static_assert(isCode(Pool::highest_id, MILLE_POOL_HIGHEST_ID));
static_assert(isCode(LengthKind::log_keys, MILLE_LOG_KEYS));
static_assert(isCode(LengthKind::log_position, MILLE_LOG_POSITION));
static_assert(isCode(LengthKind::log_floor, MILLE_LOG_FLOOR));
static_assert(isCode(transformer::Resize::bicubic, MILLE_RESIZE_BICUBIC));
static_assert(isCode(transformer::Resize::bicubic_antialiased,
                     MILLE_RESIZE_BICUBIC_ANTIALIASED));
static_assert(isCode(transformer::Move::into_windows, MILLE_MOVE_INTO_WINDOWS));
static_assert(isCode(transformer::Move::out_of_windows,
                     MILLE_MOVE_OUT_OF_WINDOWS));
static_assert(isCode(transformer::Move::merge, MILLE_MOVE_MERGE));
static_assert(isCode(RouterScore::softmax, MILLE_SCORE_SOFTMAX));
static_assert(isCode(RouterScore::sigmoid, MILLE_SCORE_SIGMOID));
static_assert(isCode(GroupScore::max, MILLE_GROUP_MAX));
static_assert(isCode(GroupScore::sum_top2, MILLE_GROUP_SUM_TOP2));

} // namespace
} // namespace mille::lower
