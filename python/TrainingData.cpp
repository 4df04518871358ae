// What a step learns from, as `mille train` chooses it. Must not draw a number
// itself: the runtime's counters do.
#include "Trainer.h"

using namespace mille_python;

std::vector<int64_t> mille_python::rowsOfStep(int64_t step, int64_t batch,
                                              int64_t count, uint64_t seed) {
  if (step < 0 || batch < 1 || count < 1)
    refuse("step is " + std::to_string(step) + ", batch " +
           std::to_string(batch) + " and count " + std::to_string(count) +
           " but they must be at least 0, 1 and 1");
  int64_t first = 0, last = 0;
  if (__builtin_mul_overflow(step, batch, &first) ||
      __builtin_add_overflow(first, batch, &last))
    refuse("step " + std::to_string(step) + " of batches of " +
           std::to_string(batch) + " takes more rows than can be counted");
  std::vector<int64_t> rows;
  for (int64_t i = first; i < last; ++i) {
    const uint64_t place = uint64_t(i), all = uint64_t(count);
    rows.push_back(
        int64_t(mille_data_order(seed, place / all, place % all, all)));
  }
  return rows;
}

// A row of tokens, as an input of a model is taken.
static Taken takeTokens(const nb::object &given, Sizes &sizes) {
  mille_tensor tensor = {};
  tensor.name = "tokens";
  tensor.type = MILLE_TYPE_I32;
  tensor.rank = 1;
  tensor.sizes[0] = "tokens";
  return takeInput(Tensor(tensor), given, sizes);
}

std::pair<nb::object, nb::object>
mille_python::maskTokens(const nb::object &given, const mille_masking &how,
                         uint64_t sequence, uint64_t epoch, uint64_t seed,
                         const nb::object &never) {
  using Row = nb::ndarray<int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Bytes =
      nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  Sizes sizes;
  const Taken taken = takeTokens(given, sizes);
  const size_t count = size_t(sizes["tokens"]);
  nb::module_ numpy = nb::module_::import_("numpy");
  Bytes stay;
  if (!never.is_none()) {
    // A number that is not 0 is true, however small.
    nb::object truth = numpy.attr("ascontiguousarray")(
        numpy.attr("asarray")(never).attr("astype")("bool"));
    if (!nb::try_cast(truth.attr("view")("uint8"), stay) ||
        stay.size() != count)
      refuse("never must be a row of " + std::to_string(count) +
             " numbers, one for each token");
  }
  nb::object hidden = numpy.attr("empty")(count, "int32"),
             labels = numpy.attr("empty")(count, "int32");
  const Row into = nb::cast<Row>(hidden), guessed = nb::cast<Row>(labels);
  const auto *tokens = static_cast<const int32_t *>(taken.data());
  std::copy(tokens, tokens + count, into.data());
  size_t chosen = 0;
  if (mille_mask_tokens(&how, seed, epoch, sequence,
                        stay.is_valid() ? stay.data() : nullptr, count,
                        into.data(), guessed.data(), &chosen) != MILLE_OK)
    refuse("rate is " + std::to_string(how.rate) + ", replaced " +
           std::to_string(how.replaced) + ", random " +
           std::to_string(how.random) + " and the mask " +
           std::to_string(how.id) +
           " but shares must be in 0 to 1, and the "
           "mask one of " +
           std::to_string(how.ids) + " ids");
  return {hidden, labels};
}
