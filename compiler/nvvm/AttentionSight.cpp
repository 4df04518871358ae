// Which tile a block of threads has, which blocks of keys it reads, and which
// queries see which keys. Must not compute scores.
#include "compiler/nvvm/AttentionKernel.h"

#include <algorithm>
#include <limits>

namespace mille::nvvm {

using Optional = AttentionOperand;

// Keys and values of so many bytes stay in the device's second cache while the
// tiles of their heads run.
constexpr int64_t cachedBytes = 16 << 20;

//===-- Tiles -------------------------------------------------------------===//

// Tile by number: the blocks of a head follow each other. Causal, they begin
// with the last, which has most keys, in all heads whose keys the cache holds.
QueryTile AttentionKernel::tileAt(Reg number) {
  Reg blocks = b.argument(numbers.queryBlocks);
  Reg block, head;
  if (s.causal) {
    Reg all = b.argument(numbers.sequences) * s.heads;
    const int64_t bytes = 2 * (s.headDim + s.valueDim);
    Reg room = b.constant(cachedBytes / bytes) / keys;
    Reg section = b.minSigned(b.maxSigned(room, 1), all);
    Reg each = blocks * section;
    Reg from = number / each * section, rest = number % each;
    Reg width = b.minSigned(section, all - from);
    block = blocks - 1 - rest / width;
    head = from + rest % width;
  } else {
    block = number % blocks;
    head = number / blocks;
  }
  return tileOf(head, block);
}

// head: counted over all sequences.
QueryTile AttentionKernel::tileOf(Reg head, Reg block) {
  QueryTile tile;
  tile.head = head % s.heads;
  tile.sequence = head / s.heads;
  tile.query = block * plan.queries;
  tile.firstKey = tile.sequence * keys;
  if (has(Optional::prefix))
    tile.prefix = b.load(
        b.at(argument(Optional::prefix), b.widen(tile.sequence) * 4), b.i32());
  const int size = int(plan.tile.keys);
  Reg last = b.minSigned(tile.query + plan.queries, queries) - 1;
  Reg end = this->end(tile, positionOf(last));
  end = b.maxSigned(end ? end : keys, 1);
  Reg begin = this->begin(positionOf(tile.query));
  tile.low = begin ? b.maxSigned(begin, 0) / size : b.constant(0);
  // One block at least; the mask empties it if need be.
  tile.high = b.maxSigned((end + (size - 1)) / size, tile.low + 1);
  return tile;
}

// A persistent block takes a tile of each round of blocks.
void AttentionKernel::eachTile(
    const Regs &state,
    llvm::function_ref<Regs(const QueryTile &, const Regs &)> body) {
  if (!plan.tile.persistent) {
    body(tileAt(b.blockIndex()), state);
    return;
  }
  if (s.causal) {
    eachInPairs(state, body);
    return;
  }
  Reg tiles =
      b.argument(numbers.queryBlocks) * b.argument(numbers.sequences) * s.heads;
  Regs initial{b.blockIndex()};
  initial.insert(initial.end(), state.begin(), state.end());
  b.loop(
      initial, [&](const Regs &now) { return lt(now[0], tiles); },
      [&](const Regs &now) {
        Regs next{now[0] + b.blockCount()};
        Regs rest = body(tileAt(now[0]), Regs(now.begin() + 1, now.end()));
        next.insert(next.end(), rest.begin(), rest.end());
        return next;
      });
}

// Causal tiles have more keys the later they are in a head. The first of a head
// and the last have together as many as the second and the last but one: such
// pairs take equally long, and as many rounds of pairs are taken as are whole,
// but for one. The tiles of the heads that are left come one by one, those with
// most keys first, from the other end in every second round.
namespace {
class Schedule {
public:
  Schedule(Builder &b, Reg tilesOfHead, Reg heads)
      : b(b), ofHead(tilesOfHead), own(b.blockIndex()), blocks(b.blockCount()) {
    pairsOfHead = (ofHead + 1) / 2;
    Reg rounds = heads * pairsOfHead / blocks;
    paired = b.maxSigned(rounds - 1, 0) * blocks / pairsOfHead;
    pairs = paired * pairsOfHead;
    ownPairs = (pairs - own + (blocks - 1)) / blocks;
    left = heads - paired;
  }

  struct Place {
    Reg head, tile, exists;
  };
  // The block's `step`-th tile. A pair has no second where tiles of a head are
  // odd and it holds the last: then tile is -1.
  Place at(Reg step) {
    Reg pair = (step >> 1) * blocks + own, within = pair % pairsOfHead;
    Reg isPaired = lt(step, ownPairs * 2);
    Reg ofPair =
        b.select(eq(step & 1, 0), ofHead - 1 - within, within - (ofHead & 1));
    Reg round = step - ownPairs;
    Reg turned = (round - pairs / blocks) & 1;
    Reg number =
        round * blocks - pairs + b.select(eq(turned, 0), own, blocks - 1 - own);
    return {b.select(isPaired, pair / pairsOfHead, paired + number % left),
            b.select(isPaired, ofPair, ofHead - 1 - number / left),
            isPaired | lt(number, left * ofHead)};
  }
  Reg after(Reg step) {
    Reg next = step + 1;
    return b.select(lt(at(next).tile, 0), next + 1, next);
  }

private:
  Builder &b;
  Reg ofHead, own, blocks;
  Reg pairsOfHead, paired, pairs; // of a head; heads whose tiles are paired
  Reg ownPairs, left;
};
} // namespace

Regs AttentionKernel::eachInPairs(
    const Regs &state,
    llvm::function_ref<Regs(const QueryTile &, const Regs &)> body) {
  Schedule schedule(b, b.argument(numbers.queryBlocks),
                    b.argument(numbers.sequences) * s.heads);
  Regs all{b.constant(0)};
  all.insert(all.end(), state.begin(), state.end());
  all = b.loop(
      all, [&](const Regs &now) { return schedule.at(now[0]).exists; },
      [&](const Regs &now) {
        Schedule::Place place = schedule.at(now[0]);
        Regs next = body(tileOf(place.head, place.tile),
                         Regs(now.begin() + 1, now.end()));
        next.insert(next.begin(), schedule.after(now[0]));
        return next;
      });
  return Regs(all.begin() + 1, all.end());
}

//===-- Ranges ------------------------------------------------------------===//

Reg firstSeen(const AttentionSpec &s, Reg position) {
  Builder &b = position.builder();
  Reg from;
  auto atLeast = [&](Reg low) { from = from ? b.maxSigned(from, low) : low; };
  if (s.windowLeft)
    atLeast(position - (s.windowLeft - 1));
  if (s.chunk)
    atLeast(position / s.chunk * s.chunk);
  return from;
}

Reg endSeen(const AttentionSpec &s, Reg position, Reg keys, Reg prefix) {
  Builder &b = position.builder();
  Reg to;
  auto atMost = [&](Reg high) { to = to ? b.minSigned(to, high) : high; };
  if (s.causal)
    atMost(prefix ? b.maxSigned(position + 1, prefix) : position + 1);
  if (s.windowRight)
    atMost(position + s.windowRight);
  if (s.chunk)
    atMost(position / s.chunk * s.chunk + s.chunk);
  return to ? b.minSigned(to, keys) : to;
}

//===-- The mask of keys --------------------------------------------------===//

Regs AttentionKernel::readMask(const QueryTile &tile, Reg block) {
  Regs numbers;
  Reg mask = argument(Optional::keyMask), lane = thread % 32;
  for (unsigned w = 0; w < plan.maskWords(); ++w) {
    Reg key = block * plan.tile.keys + (lane + 32 * w);
    Reg row = b.widen(tile.firstKey + b.minSigned(key, keys - 1));
    numbers.push_back(b.load(b.at(mask, row * 4), b.i32()));
  }
  return numbers;
}

// Bits past the block are 1, and past the last key 0.
Regs AttentionKernel::seenBits(const Regs &mask, Reg block) {
  Regs bits;
  Reg lane = thread % 32;
  for (unsigned w = 0; w < plan.maskWords(); ++w) {
    Reg place = lane + 32 * w;
    Reg seen = ne(mask[w], 0) & lt(block * plan.tile.keys + place, keys);
    if (32 * (w + 1) > plan.tile.keys)
      seen = seen | ge(place, plan.tile.keys);
    bits.push_back(b.ballot(seen));
  }
  return bits;
}

//===-- Masks -------------------------------------------------------------===//

// Most blocks need no mask: a branch that all lanes take alike.
Regs AttentionKernel::masked(const QueryTile &tile, const Fragments &fragments,
                             Reg query, Reg block, const Regs &seen,
                             const Regs &scores) {
  Reg key = block * plan.tile.keys, past = key + plan.tile.keys;
  Reg needed;
  auto where = [&](Reg condition) {
    needed = needed ? needed | condition : condition;
  };
  if (seen.empty()) {
    where(gt(past, keys));
  } else {
    Reg all = seen[0];
    for (size_t w = 1; w < seen.size(); ++w)
      all = all & seen[w];
    where(ne(all, -1));
  }
  Reg position = positionOf(query);
  if (Reg to = end(tile, position))
    where(gt(past, to));
  if (Reg from = begin(position + (groupQueries - 1)))
    where(lt(key, from));
  auto rows = [&] {
    return maskedRows(tile, fragments, query, block, seen, scores);
  };
  if (has(Optional::segments))
    return rows();
  return b.ifValues(needed, rows, scores);
}

Regs AttentionKernel::maskedRows(const QueryTile &tile,
                                 const Fragments &fragments, Reg query,
                                 Reg block, const Regs &seen,
                                 const Regs &scores) {
  const unsigned size = plan.tile.keys;
  Reg none = b.real(-std::numeric_limits<double>::infinity());
  Reg key = block * size + fragments.column; // of register 0
  Reg segments, lastKey = keys - 1;
  auto segmentOf = [&](Reg row) {
    return b.load(
        b.at(segments, b.widen(tile.firstKey + b.minSigned(row, lastKey)) * 4),
        b.i32());
  };
  if (has(Optional::segments))
    segments = argument(Optional::segments);
  Regs own(2), from(2), to(2);
  for (unsigned h = 0; h < 2; ++h) {
    Reg position = positionOf(query + fragments.row + 8 * h);
    if (segments)
      own[h] = segmentOf(position);
    to[h] = end(tile, position);
    if (!to[h] && seen.empty())
      to[h] = keys;
    if (to[h])
      to[h] = to[h] - key;
    if ((from[h] = begin(position)))
      from[h] = from[h] - key;
  }
  Regs words; // bit 0 is this thread's column
  for (Reg word : seen)
    words.push_back(word >> fragments.column);
  Regs out = scores;
  for (unsigned j = 0; j < size / 8; ++j)
    for (unsigned e = 0; e < 2; ++e) {
      const unsigned place = 8 * j + e;
      Reg shared;
      if (!words.empty())
        shared = ne(words[place / 32] & (int64_t(1) << place % 32), 0);
      Reg segment = segments ? segmentOf(key + place) : Reg();
      for (unsigned h = 0; h < 2; ++h) {
        Reg keep = shared;
        auto also = [&](Reg condition) {
          keep = keep ? keep & condition : condition;
        };
        if (to[h])
          also(gt(to[h], place));
        if (from[h])
          also(le(from[h], place));
        if (segments)
          also(eq(own[h], segment));
        Reg &score = out[4 * j + 2 * h + e];
        score = b.select(keep, score, none);
      }
    }
  return out;
}

} // namespace mille::nvvm
