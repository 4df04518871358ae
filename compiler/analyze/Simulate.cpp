// A plain forward pass over one token and a plain backward pass by hand.
#include "compiler/analyze/Simulate.h"
#include "dialects/transformer/Activation.h"

#include <cmath>
#include <random>

using namespace mille;
using namespace mille::analyze;
using transformer::Activation;
using Row = std::vector<double>;

Stack mille::analyze::narrowed(const Stack &stack, int64_t width) {
  Stack narrow = stack;
  const double ratio = width / std::max(stack.channels, 1.0);
  auto scaled = [&](double channels) {
    return std::max(1.0, std::round(channels * ratio));
  };
  narrow.channels = scaled(stack.channels);
  for (Unit &unit : narrow.units)
    for (Branch &branch : unit.branches)
      for (Map &map : branch.maps) {
        map.channels = scaled(map.channels);
        if (map.kind != MapKind::linear)
          continue;
        const double fanIn = scaled(map.fanIn);
        map.weight.second *= map.fanIn / fanIn;
        map.fanIn = fanIn;
        map.weight.count = 0;
      }
  return narrow;
}

namespace {

// Makes normals from raw bits, so that every standard library gives the same.
class Draws {
public:
  explicit Draws(uint64_t seed) : bits(seed) {}
  double normal() {
    if (spare) {
      spare = false;
      return second;
    }
    const double radius = std::sqrt(-2 * std::log(unit()));
    const double turn = 6.283185307179586476925 * unit();
    second = radius * std::sin(turn);
    spare = true;
    return radius * std::cos(turn);
  }
  Row normals(size_t count, double deviation) {
    Row row(count);
    for (double &x : row)
      x = deviation * normal();
    return row;
  }

private:
  double unit() { return (double(bits() >> 11) + 0.5) * 0x1p-53; }
  std::mt19937_64 bits;
  double second = 0;
  bool spare = false;
};

double dot(const Row &a, const Row &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

double meanSquare(const Row &a) { return dot(a, a) / double(a.size()); }

void add(Row &into, const Row &row, double factor = 1) {
  if (into.empty())
    into.assign(row.size(), 0.0);
  for (size_t i = 0; i < row.size(); ++i)
    into[i] += factor * row[i];
}

double slope(Activation function, double x) {
  if (function == Activation::relu)
    return x > 0 ? 1 : 0;
  const double h = 1e-5;
  return (transformer::activation(function, x + h) -
          transformer::activation(function, x - h)) /
         (2 * h);
}

// A norm with drawn weights and biases, and what its backward pass needs.
class NormRun {
public:
  Row forward(const Norm &norm, const Row &x, Draws &draws) {
    if (!norm.present)
      return x;
    on = true;
    centred = norm.centred;
    weight = draws.normals(x.size(), 1);
    const double length = std::sqrt(norm.weight.second);
    for (double &w : weight) // only its moment is known
      w = norm.weight.largest == length ? length : length * w;
    const Row bias = draws.normals(x.size(), std::sqrt(norm.bias.second));
    double mean = 0;
    if (centred)
      for (double v : x)
        mean += v / double(x.size());
    hat = x;
    for (double &v : hat)
      v -= mean;
    inverse = 1 / std::sqrt(meanSquare(hat) + norm.eps);
    Row y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      hat[i] *= inverse;
      y[i] = weight[i] * hat[i] + bias[i];
    }
    return y;
  }

  Row backward(const Row &gradient) const {
    if (!on)
      return gradient;
    Row g = gradient;
    double along = 0, mean = 0;
    for (size_t i = 0; i < g.size(); ++i) {
      g[i] *= weight[i];
      along += g[i] * hat[i] / double(g.size());
      mean += centred ? g[i] / double(g.size()) : 0;
    }
    for (size_t i = 0; i < g.size(); ++i)
      g[i] = inverse * (g[i] - mean - hat[i] * along);
    return g;
  }

private:
  bool on = false, centred = false;
  double inverse = 1;
  Row weight, hat;
};

// Repeats or cuts to `size`, for heads that share keys and values.
Row resized(const Row &row, size_t size) {
  Row out(size);
  for (size_t i = 0; i < size; ++i)
    out[i] = row[i % row.size()];
  return out;
}

class BranchRun {
public:
  explicit BranchRun(const Branch &branch) : branch(branch) {}

  Row forward(const Row &x, Draws &draws) {
    Row u = in.forward(branch.inNorm, x, draws);
    values.assign(branch.maps.size(), {});
    weights.assign(branch.maps.size(), {});
    norms.assign(branch.maps.size(), {});
    for (size_t i = 0; i < branch.maps.size(); ++i)
      values[i] = step(i, u, draws);
    return out.forward(branch.branchNorm, values.back(), draws);
  }

  // Takes the gradient at the branch's normed value, and gives that at the
  // unit's input.
  Row backward(const Row &gradient, UnitMoments &m) {
    std::vector<Row> at(branch.maps.size());
    at.back() = out.backward(gradient);
    for (size_t i = branch.maps.size(); i-- > 0;)
      if (!at[i].empty())
        stepBack(i, at, m);
    return in.backward(at.front());
  }

  const Row &tapped() const { return values.front(); }
  Row tapBackward(const Row &gradient) const { return in.backward(gradient); }

private:
  Row step(size_t i, const Row &u, Draws &draws) {
    const Map &map = branch.maps[i];
    auto at = [&](int k) -> const Row & { return values[k]; };
    switch (map.kind) {
    case MapKind::input:
      return u;
    case MapKind::linear:
      return linear(i, map, draws);
    case MapKind::norm:
      return norms[i].forward(map.norm, at(map.first), draws);
    case MapKind::activate: {
      Row y = at(map.first);
      for (double &v : y)
        v = transformer::activation(map.function, v);
      return y;
    }
    case MapKind::clamp: {
      Row y = at(map.first);
      for (double &v : y)
        v = std::min(std::max(v, map.low), map.high);
      return y;
    }
    case MapKind::gate: {
      Row y = at(map.second);
      for (size_t k = 0; k < y.size(); ++k)
        y[k] = (y[k] + map.offset) *
               transformer::activation(map.function, at(map.first)[k]);
      return y;
    }
    case MapKind::add: {
      Row y = at(map.first);
      add(y, at(map.second));
      return y;
    }
    case MapKind::scale: {
      Row y;
      add(y, at(map.first), map.factor);
      return y;
    }
    case MapKind::attend: // with one token the softmax has one key
      return resized(at(map.first), size_t(map.channels));
    }
    return {};
  }

  Row linear(size_t i, const Map &map, Draws &draws) {
    const Row &x = values[map.first];
    const size_t rows = size_t(map.channels), columns = x.size();
    // Rounding may have given the input another width.
    weights[i] =
        draws.normals(rows * columns, std::sqrt(map.weight.second * map.fanIn /
                                                double(columns)));
    Row y = draws.normals(rows, std::sqrt(map.bias.second));
    for (size_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (size_t c = 0; c < columns; ++c)
        sum += weights[i][r * columns + c] * x[c];
      y[r] += map.factor * sum;
    }
    return y;
  }

  void linearBack(size_t i, const Map &map, std::vector<Row> &at,
                  UnitMoments &m) {
    const Row &x = values[map.first], &g = at[i], &w = weights[i];
    Row back(x.size(), 0.0);
    for (size_t r = 0; r < g.size(); ++r)
      for (size_t c = 0; c < x.size(); ++c)
        back[c] += map.factor * w[r * x.size() + c] * g[r];
    add(at[map.first], back);
    m.alongWeights += dot(back, x); // <g x^T, W> = x . W^T g
    double absoluteX = 0, absoluteG = 0;
    for (double v : x)
      absoluteX += std::fabs(v);
    for (double v : g)
      absoluteG += std::fabs(map.factor * v);
    // The weight's gradient is g x^T: its norms are products.
    m.update[sgd] += map.factor * map.factor * dot(g, g) * dot(x, x);
    m.update[adam] += absoluteX * absoluteG;
    m.update[lamb] += absoluteX * absoluteG * std::sqrt(dot(w, w));
  }

  void stepBack(size_t i, std::vector<Row> &at, UnitMoments &m) {
    const Map &map = branch.maps[i];
    const Row &g = at[i];
    switch (map.kind) {
    case MapKind::input:
      return;
    case MapKind::linear:
      return linearBack(i, map, at, m);
    case MapKind::norm:
      return add(at[map.first], norms[i].backward(g));
    case MapKind::activate: {
      Row back = g;
      for (size_t k = 0; k < g.size(); ++k)
        back[k] *= slope(map.function, values[map.first][k]);
      return add(at[map.first], back);
    }
    case MapKind::clamp: {
      Row back = g;
      for (size_t k = 0; k < g.size(); ++k) {
        const double x = values[map.first][k];
        back[k] *= x > map.low && x < map.high;
      }
      return add(at[map.first], back);
    }
    case MapKind::gate: {
      Row gate = g, up = g;
      for (size_t k = 0; k < g.size(); ++k) {
        const double x = values[map.first][k];
        gate[k] *=
            slope(map.function, x) * (values[map.second][k] + map.offset);
        up[k] *= transformer::activation(map.function, x);
      }
      add(at[map.first], gate);
      return add(at[map.second], up);
    }
    case MapKind::add:
      add(at[map.first], g);
      return add(at[map.second], g);
    case MapKind::scale:
      return add(at[map.first], g, map.factor);
    case MapKind::attend: {
      const size_t size = values[map.first].size();
      Row back(size, 0.0);
      for (size_t k = 0; k < g.size(); ++k)
        back[k % size] += g[k];
      return add(at[map.first], back);
    }
    }
  }

  const Branch &branch;
  std::vector<Row> values, weights;
  std::vector<NormRun> norms;
  NormRun in, out;
};

class UnitRun {
public:
  explicit UnitRun(const Unit &unit) : unit(unit) {
    for (const Branch &branch : unit.branches)
      branches.emplace_back(branch);
  }

  Row forward(const Row &x, Draws &draws, UnitMoments &m) {
    Row sum, together;
    for (size_t i = 0; i < branches.size(); ++i)
      add(together, branches[i].forward(x, draws), unit.branches[i].scale);
    add(sum, unit.normedTap ? branches[0].tapped() : x, unit.skip);
    add(sum, together);
    Row y;
    add(y, out.forward(unit.outNorm, sum, draws), unit.stream);
    m.in += meanSquare(x);
    m.branch += meanSquare(together);
    m.sum += meanSquare(sum);
    m.out += meanSquare(y);
    return y;
  }

  Row backward(const Row &gradient, UnitMoments &m) {
    Row scaled;
    add(scaled, gradient, unit.stream);
    const Row atSum = out.backward(scaled);
    Row atInput, skip;
    add(skip, atSum, unit.skip);
    add(atInput, unit.normedTap ? branches[0].tapBackward(skip) : skip);
    for (size_t i = 0; i < branches.size(); ++i) {
      Row atBranch;
      add(atBranch, atSum, unit.branches[i].scale);
      add(atInput, branches[i].backward(atBranch, m));
    }
    m.gradient += meanSquare(atInput);
    return atInput;
  }

private:
  const Unit &unit;
  std::vector<BranchRun> branches;
  NormRun out;
};

// Adds the numbers of one draw to `all`, and the logarithms of its bounds to
// `logs`.
void oneDraw(const Stack &stack, Draws &draws, Moments &all, Moments &logs) {
  const size_t width = size_t(stack.channels);
  const Row start = draws.normals(width, std::sqrt(stack.entry));
  Row x = start;
  std::vector<UnitRun> runs;
  runs.reserve(stack.units.size());
  for (size_t i = 0; i < stack.units.size(); ++i) {
    UnitMoments &m = all.units[i];
    runs.emplace_back(stack.units[i]);
    x = runs.back().forward(x, draws, m);
    m.inputWeight += dot(x, start) / std::sqrt(dot(x, x) * dot(start, start));
  }
  Row gradient = draws.normals(width, 1);
  const double length = std::sqrt(dot(gradient, gradient));
  for (double &g : gradient)
    g /= length;
  all.loss += dot(gradient, x);
  std::array<double, 3> total{};
  for (size_t i = stack.units.size(); i-- > 0;) {
    UnitMoments m;
    gradient = runs[i].backward(gradient, m);
    logs.units[i].gradient += std::log(m.gradient);
    all.units[i].alongWeights += m.alongWeights;
    for (size_t o = 0; o < total.size(); ++o) {
      logs.units[i].update[o] += std::log(m.update[o]);
      total[o] += m.update[o];
    }
  }
  for (size_t o = 0; o < total.size(); ++o)
    logs.update[o] += std::log(total[o]);
}

} // namespace

double mille::analyze::cosineFloor(const SimulationOptions &options) {
  return 2 / std::sqrt(double(options.width) * double(options.draws));
}

Moments mille::analyze::simulate(const Stack &full,
                                 const SimulationOptions &options) {
  const Stack stack = narrowed(full, options.width);
  Moments all, logs;
  all.units.resize(stack.units.size());
  logs.units.resize(stack.units.size());
  for (UnitMoments &m : all.units)
    m.inputWeight = 0;
  Draws draws(options.seed);
  for (int64_t i = 0; i < options.draws; ++i)
    oneDraw(stack, draws, all, logs);
  const double share = 1.0 / double(options.draws);
  all.loss *= share;
  for (size_t i = 0; i < all.units.size(); ++i) {
    UnitMoments &m = all.units[i], &log = logs.units[i];
    for (double *number :
         {&m.in, &m.branch, &m.sum, &m.out, &m.inputWeight, &m.alongWeights})
      *number *= share;
    m.gradient = std::exp(share * log.gradient);
    for (size_t o = 0; o < m.update.size(); ++o)
      m.update[o] = std::exp(share * log.update[o]);
    all.effectiveDepth += m.sum > 0 ? m.branch / m.sum : 0;
  }
  for (size_t o = 0; o < all.update.size(); ++o)
    all.update[o] = std::exp(share * logs.update[o]);
  return all;
}
