// What a search for the likeliest answer is: the options come before what the
// model says. Must not run a model.
#include "compiler/driver/generate/BeamSearch.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mille;

bool mille::searches(const GenerateOptions &options,
                     const GenerationRules *rules) {
  const bool asks = options.beams || options.lengthPenalty ||
                    options.noRepeat || !options.earlyStopping.empty();
  return !options.draws && (asks || rules);
}

int64_t mille::beamsOf(const GenerateOptions &options,
                       const GenerationRules *rules) {
  return options.beams.value_or(rules ? rules->beams : 1);
}

static mille_beams_stop stopOf(llvm::StringRef word) {
  return llvm::StringSwitch<mille_beams_stop>(word)
      .Cases({"early", "true"}, MILLE_BEAMS_STOP_EARLY)
      .Case("never", MILLE_BEAMS_STOP_NEVER)
      .Default(MILLE_BEAMS_STOP_LIKELY);
}

mille_beams mille::beamSearch(const GenerateOptions &options,
                              const GenerationRules *rules, int64_t most,
                              llvm::ArrayRef<int32_t> ends) {
  mille_beams beams = MILLE_BEAMS_INIT;
  if (rules) {
    beams.first = int32_t(rules->first.value_or(-1));
    beams.last = int32_t(rules->last.value_or(-1));
    beams.banned = rules->banned.data();
    beams.banned_count = rules->banned.size();
    beams.banned_first = rules->bannedFirst.data();
    beams.banned_first_count = rules->bannedFirst.size();
    beams.least = rules->least;
    beams.no_repeat = rules->noRepeat;
    beams.length_penalty = rules->lengthPenalty;
    beams.stop = stopOf(rules->stop);
  }
  beams.beams = beamsOf(options, rules);
  beams.most = most;
  beams.ends = ends.data();
  beams.end_count = ends.size();
  beams.length_penalty = options.lengthPenalty.value_or(beams.length_penalty);
  beams.no_repeat = options.noRepeat.value_or(beams.no_repeat);
  if (!options.earlyStopping.empty())
    beams.stop = stopOf(options.earlyStopping);
  return beams;
}
