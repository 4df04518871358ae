// The checks that native specs and families have in common.
#include "compiler/import/ModelSpec.h"
#include "compiler/import/Problems.h"

using llvm::Twine;

void mille::import::checkHeads(const Attention &attention, Problems &problems) {
  const Extent &heads = attention.heads, &kvHeads = attention.kvHeads;
  if (heads.value % kvHeads.value == 0)
    return;
  int64_t below = kvHeads.value, above = kvHeads.value;
  while (heads.value % below)
    --below;
  while (above < heads.value && heads.value % above)
    ++above;
  Problems::Problem &problem =
      problems.error(kvHeads.at, kvHeads.key + " is " + Twine(kvHeads.value) +
                                     " but must divide " + heads.key +
                                     ", which is " + Twine(heads.value));
  problem.note(heads.at, heads.key + " is given here");
  if (above <= heads.value)
    problem.help("nearest divisors of " + Twine(heads.value) + " are " +
                 Twine(below) + " and " + Twine(above));
}
