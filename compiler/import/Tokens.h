// Descriptions of streams that do not begin with ids (patches of an image, the
// merged tokens of another stack, a spectrogram) and of the attention of image
// models.
#pragma once
#include "compiler/import/Extent.h"
#include "compiler/import/Windows.h"
#include "dialects/transformer/Transformer.h"

#include <optional>
#include <string>

namespace mille::import {

// Learned tokens in front of the patches: "class", "registers".
struct LeadingTokens {
  std::string name;
  Extent count;
  bool placed = true; // they have rows in the position table
};

// Pixels [batch, channels, height, width]; each whole patch is a token.
struct Image {
  Extent channels, height, width, patchHeight, patchWidth;
  Extent ownHeight, ownWidth; // of the image that the model was trained with
  bool ofRuns = false;        // each run chooses height and width
  int64_t mostHeight = 0, mostWidth = 0; // of a run; 0: any
  // How the positions become those of another grid than their own; absent: not
  // at all.
  std::optional<transformer::Resize> resize;
  std::vector<LeadingTokens> leading;
  bool bias = true;       // of the patches' projection
  bool positions = false; // a learned row per patch and placed token
  bool normFirst = false; // applies the embedding norm before the positions

  Grid grid() const {
    return {height.value / patchHeight.value, width.value / patchWidth.value};
  }
  Grid ownGrid() const {
    return {ownHeight.value / patchHeight.value,
            ownWidth.value / patchWidth.value};
  }
  // Whether the positions are not used as they are stored.
  bool resized() const {
    return ofRuns || (positions && (grid().height != ownGrid().height ||
                                    grid().width != ownGrid().width));
  }
  int64_t leadingTokens() const {
    int64_t sum = 0;
    for (const LeadingTokens &tokens : leading)
      sum += tokens.count.value;
    return sum;
  }
  int64_t tokens() const { return leadingTokens() + grid().tokens(); }
};

// Concatenates squares of 2 x 2 tokens of the stack before, and projects them.
struct Merging {
  Grid grid;              // of the stack before
  int64_t side[2] = {};   // pixels of a token there, down and across
  std::string prefix;     // of the parameters "merge" and "merge_norm"
  bool normFirst = false; // applies the embedding norm before the projection
};

// A spectrogram [batch, bands, 2 * frames]: two convolutions of three frames
// with the activation, the second of stride 2.
struct Sound {
  Extent bands, frames;
  transformer::Activation act = transformer::Activation::gelu_erf;
};

// Attention within windows of a grid.
struct WindowPlan {
  Grid grid;
  int64_t size = 0, shift = 0;
  int64_t side[2] = {};      // pixels of a token, down and across
  int64_t shiftOfRuns = 0;   // where runs choose the grid
  bool followsImage = false; // the window itself does: it has one grid
  Windows windows() const { return {grid, size, shift}; }
};

// A learned bias for each pair of tokens: table[index[i * n + j], head].
struct PairBias {
  std::vector<int64_t> index;
  int64_t entries = 0; // rows of the table
  bool shared =
      false; // one table for all layers: "relative", else "attn.relative"
  // Replaces the table by 16 sigmoid(W2 relu(W1 x + b)), where x are these
  // coordinates [entries, 2] and W1 has `width` rows.
  std::vector<double> coordinates;
  int64_t width = 0;
};

// Rotation by row and column: half of each head's pairs turn by the row, half
// by the column.
struct AxialRope {
  Grid grid;
  int64_t leading = 0; // first tokens, which are not rotated
  double theta = 0;
};

} // namespace mille::import
