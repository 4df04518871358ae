// Calls the generation library for one sequence, and turns statuses into
// errors. Must not know how a token is drawn or becomes text.
#include "compiler/driver/generate/Continuation.h"

using namespace mille;

// The generation library asks for a session without a device's name; this
// function in its table adds the name.
static const mille_functions *chosenApi;
static std::string chosenDevice;
static mille_status createOnChosen(mille_package *package,
                                   const mille_size *most, size_t count,
                                   int threads, mille_session **session) {
  return chosenApi->mille_session_create_on(package, most, count, threads,
                                            chosenDevice.c_str(), session);
}

static mille_generation_runtime runtimeOf(const mille_functions &api) {
  return {sizeof(mille_generation_runtime),
          api.mille_package_find_entry,
          api.mille_package_entry,
          api.mille_package_entry_input,
          api.mille_package_entry_output,
          api.mille_package_state_count,
          api.mille_package_state,
          api.mille_package_name,
          api.mille_package_hash,
          api.mille_package_message,
          api.mille_session_create_for,
          api.mille_session_close,
          api.mille_session_run_entry,
          api.mille_session_copy_states,
          api.mille_session_least_past,
          api.mille_session_state_bytes,
          api.mille_session_read_state_part,
          api.mille_session_write_state_part,
          api.mille_session_cancel,
          api.mille_session_message,
          api.mille_session_output_memory,
          api.mille_session_memory};
}

Status Continuation::open(const Package &package, mlir::MLIRContext &context,
                          const Wishes &wishes,
                          std::unique_ptr<Continuation> &continuation) {
  continuation = std::make_unique<Continuation>();
  Compiled::Wishes opened;
  opened.entry = "next";
  opened.mapWeights = true;
  if (Status status = Compiled::open(package, wishes.code, context,
                                     continuation->compiled, opened);
      failed(status))
    return status;
  const Compiled &compiled = *continuation->compiled;
  mille_generation_runtime runtime = runtimeOf(compiled.functions());
  if (!compiled.deviceName().empty()) {
    chosenApi = &compiled.functions();
    chosenDevice = compiled.deviceName();
    runtime.session_create_for = createOnChosen;
  }
  mille_generation_options options = MILLE_GENERATION_OPTIONS_INIT;
  options.context = wishes.context;
  options.guesses = wishes.guesses;
  options.sequences = wishes.beams;
  options.source = wishes.source;
  options.threads = int(wishes.threads);
  char message[512] = "";
  if (mille_status status = mille_generation_create(
          &runtime, compiled.handle(), &options, &continuation->generation,
          message, sizeof message)) {
    if (status != MILLE_INVALID_ARGUMENT)
      return continuation->compiled->fail(status, message);
    mlir::emitError(mlir::UnknownLoc::get(&context)) << message;
    return Status::input; // the package lacks what generation needs
  }
  return continuation->judge(
      mille_sequence_open(continuation->generation, &continuation->sequence));
}

Status Continuation::judge(mille_status status) {
  return status == MILLE_OK || status == MILLE_CANCELLED
             ? Status::done
             : compiled->fail(status, mille_generation_message(generation));
}

Status Continuation::follow(llvm::ArrayRef<int32_t> ids, size_t &ran) {
  size_t kept = 0;
  if (Status status = judge(mille_sequence_follow(
          generation, sequence, ids.data(), ids.size(), &kept));
      failed(status))
    return status;
  ran = ids.size() - kept;
  return decode();
}

Status Continuation::source(llvm::ArrayRef<int32_t> ids) {
  return judge(
      mille_sequence_source(generation, sequence, ids.data(), ids.size()));
}

Status Continuation::sourceValues(llvm::ArrayRef<float> values) {
  return judge(mille_sequence_source_values(generation, sequence, values.data(),
                                            values.size()));
}

Status Continuation::search(const mille_beams &beams,
                            llvm::ArrayRef<int32_t> &ids) {
  const int32_t *found = nullptr;
  size_t count = 0;
  Status status = judge(mille_sequence_beams(generation, sequence, &beams,
                                             &found, &count, nullptr));
  ids = {found, count};
  return status;
}

Status Continuation::append(int32_t id) {
  return judge(mille_sequence_append(generation, sequence, &id, 1));
}

Status Continuation::decode() {
  return judge(mille_generation_decode(generation));
}

void Continuation::cancel() { mille_generation_cancel(generation); }

Status Continuation::logits(llvm::ArrayRef<float> &logits) {
  const float *numbers = nullptr;
  size_t count = 0;
  Status status =
      judge(mille_sequence_logits(generation, sequence, &numbers, &count));
  logits = {numbers, count};
  return status;
}

Status Continuation::sample(const mille_sampling &sampling, int32_t &id) {
  return judge(mille_sequence_sample(generation, sequence, &sampling, &id));
}

Status Continuation::likeliest(llvm::MutableArrayRef<int32_t> ids,
                               llvm::MutableArrayRef<double> logprobs) {
  return judge(mille_sequence_likeliest(generation, sequence, ids.size(),
                                        ids.data(), logprobs.data()));
}

Status Continuation::logprob(int32_t id, double &logprob) {
  return judge(mille_sequence_logprob(generation, sequence, id, &logprob));
}

Status Continuation::guessNgram() {
  return judge(mille_sequence_guess_ngram(generation, sequence, nullptr));
}

Status Continuation::guessDraft(Continuation &draft) {
  return judge(mille_sequence_guess_draft(
      generation, sequence, draft.generation, draft.sequence, nullptr));
}

llvm::ArrayRef<int32_t> Continuation::ids() const {
  const int32_t *ids = nullptr;
  size_t count = 0;
  mille_sequence_ids(generation, sequence, &ids, &count);
  return {ids, count};
}
