// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{argument 0 has transformer.nmae but its dialect has no such attribute}}
func.func @unknown(%x: tensor<?xf32> {transformer.nmae = "x"}) { return }

// -----

// expected-error @+1 {{result 0 has transformer.words but its dialect has no such attribute}}
func.func @unknown_on_result(%x: tensor<?xf32>) -> (tensor<?xf32> {transformer.words = 1}) {
  return %x : tensor<?xf32>
}

// -----

func.func @no_function(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{has transformer.name but only functions have such attributes}}
  return {transformer.name = "x"} %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{has transformer.name but this belongs to an argument or a result}}
func.func @name_on_function() attributes {transformer.name = "x"} { return }

// -----

// expected-error @+1 {{argument 0 has transformer.rewrites but this belongs to a function}}
func.func @rewrites_on_argument(%x: tensor<?xf32> {transformer.rewrites = []}) { return }

// -----

// expected-error @+1 {{result 0 has transformer.state but this belongs to an argument}}
func.func @state_on_result(%x: tensor<?xf32>) -> (tensor<?xf32> {transformer.state}) {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{argument 0 has transformer.name = 3 : i64 but it must be a string that is not empty}}
func.func @name_value(%x: tensor<?xf32> {transformer.name = 3}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.name = "" but it must be a string that is not empty}}
func.func @name_empty(%x: tensor<?xf32> {transformer.name = ""}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.name but is 'f32', no tensor}}
func.func @name_type(%x: f32 {transformer.name = "x"}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.shape = [1] but it must be a #transformer.shape}}
func.func @shape_value(%x: tensor<?xf32> {transformer.shape = [1]}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.shape but is 'index', no tensor}}
func.func @shape_type(%x: index {transformer.shape = #transformer.shape<batch>}) { return }

// -----

// expected-error @+1 {{argument 0 is 'tensor<?xf32>' but its transformer.shape is [batch, tokens]}}
func.func @shape_rank(%x: tensor<?xf32> {transformer.shape = #transformer.shape<batch, tokens>}) { return }

// -----

// expected-error @+1 {{result 0 is 'tensor<?x8xf32>' but its transformer.shape is [batch, 9]}}
func.func @shape_extent(%x: tensor<?x8xf32>) -> (tensor<?x8xf32> {transformer.shape = #transformer.shape<batch, 9>}) {
  return %x : tensor<?x8xf32>
}

// -----

// expected-error @+1 {{argument 0 is a state whose transformer.shape has 2 extents but must have 4}}
func.func @shape_of_state(%x: tensor<?x8xf32> {transformer.state, transformer.shape = #transformer.shape<batch, 8>}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.default = "one" but it must be "ones", "zeros", "positions", "none" or "last"}}
func.func @default_value(%x: tensor<?xi32> {transformer.default = "one"}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.default but is 'index', no tensor}}
func.func @default_type(%x: index {transformer.default = "ones"}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.below = 0 : i64 but it must be an i64 of at least 1}}
func.func @below_value(%x: tensor<?xi32> {transformer.below = 0}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.below = 4 : i32 but it must be an i64 of at least 1}}
func.func @below_width(%x: tensor<?xi32> {transformer.below = 4 : i32}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.below but is 'tensor<?xf32>', no tensor of i32}}
func.func @below_type(%x: tensor<?xf32> {transformer.below = 4}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.state = 1 : i64 but it must be without a value}}
func.func @state_value(%x: tensor<?xf32> {transformer.state = 1}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.state but is 'f32', no tensor}}
func.func @state_type(%x: f32 {transformer.state}) { return }

// -----

transformer.model @m {
  // expected-error @+1 {{argument 0 is a state but has no transformer.shape}}
  func.func @forward(%x: tensor<1x?x?x8xf32> {transformer.name = "keys", transformer.state}) { return }
}

// -----

// expected-error @+1 {{has transformer.rewrites = [1] but it must be a list of dictionaries}}
func.func @rewrites_value() attributes {transformer.rewrites = [1]} { return }

// -----

// expected-error @+1 {{has transformer.rewrites whose entry 0 has no string 'law'}}
func.func @rewrites_text() attributes {transformer.rewrites = [{name = "rotate-norms", unit = "a", layers = "", status = "applied", reason = "", bound = "0", roundings = 0 : i64}]} { return }

// -----

// expected-error @+1 {{argument 0 has transformer.grid = [1] but it must be a #transformer.grid}}
func.func @grid_value(%x: tensor<?x3x?x?xf32> {transformer.grid = [1]}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.grid but its transformer.shape is [batch, 3, height, height], not [batch, channels, a size, another size]}}
func.func @grid_shape(%x: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, height>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [8, 8], prefix = 0>}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.grid whose tokens are "width", a size of its own}}
func.func @grid_tokens(%x: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "width", patch = [4, 4], own = [8, 8], prefix = 0>}) { return }

// -----

// expected-error @+1 {{argument 0 has transformer.grid whose tokens are "height", a size of its own}}
func.func @grid_part(%x: tensor<?x3x?x?xf32> {transformer.shape = #transformer.shape<batch, 3, height, width>, transformer.grid = #transformer.grid<tokens = "t", patch = [4, 4], own = [32, 32], prefix = 0, parts = [<tokens = "w", side = [8, 8], each = 4>, <tokens = "height", side = [8, 8], each = 1>]>}) { return }
