// Which experts the rows of a run went to, and whether another run may say so.
// Must not know where a run's choices come from.
#pragma once
#include "compiler/interpret/Interpret.h"

namespace mille {

// What one router said of its rows, and where they went.
struct RoutedRows {
  std::vector<int64_t> shape;  // of the logits: [.., entries]
  std::vector<double> logits;  // [rows, entries]
  std::vector<double> experts; // [rows, k]

  int64_t entries() const { return shape.back(); }
  int64_t rows() const { return int64_t(logits.size()) / entries(); }
  int64_t k() const { return int64_t(experts.size()) / rows(); }
};

// The routers of a run, in the order of the program.
using Routes = std::vector<RoutedRows>;

// Records the routes of an interpreted run and, where others are given, takes
// their experts. What experts a row goes to is no continuous function of its
// logits: where two are nearly equal, a run of other roundings goes elsewhere,
// and only a run that goes there too can be compared with it.
struct Routing {
  const Routes *given = nullptr; // as many as the run makes, of its sizes
  Routes made;
  int64_t followed = 0; // rows that would have gone elsewhere by this run
  // Rows whose given experts are not those that the router takes by the logits
  // that are given beside them; these go where this run says.
  int64_t unfounded = 0;
  int64_t route = 0, row = 0; // the first of them

  int64_t rows() const;
};

// Whether they are routers of the same sizes.
bool areAlike(const Routes &one, const Routes &other);
// Whether each row goes to the same experts, in any order.
bool goAlike(const Routes &one, const Routes &other);

// Where rows of `other`, a run of the same inputs, went to other experts: `run`
// again, which takes these. Else `outputs` and `routing` stay.
Status follow(const Routes &other, Values &outputs, Routing &routing,
              llvm::function_ref<Status(Values &, Routing &)> run);

// Adds the logits of routers to the outputs of two runs that are to be
// compared: router_logits.0, .... `expected` has the shapes.
void addRouterLogits(const Routes &got, const Routes &expected,
                     Values &gotOutputs, Values &expectedOutputs);

} // namespace mille
