// RUN: %mille-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{argument 0 has kernel.sise but its dialect has no such attribute}}
func.func @unknown(%b: index {kernel.sise = "batch"}) { return }

// -----

// expected-error @+1 {{has kernel.size but this belongs to an argument}}
func.func @size_on_function() attributes {kernel.size = "batch"} { return }

// -----

// expected-error @+1 {{argument 0 has kernel.size = "" but it must be a string that is not empty}}
func.func @size_value(%b: index {kernel.size = ""}) { return }

// -----

// expected-error @+1 {{argument 0 has kernel.size but is 'i32', no index}}
func.func @size_type(%b: i32 {kernel.size = "batch"}) { return }

// -----

// expected-error @+1 {{argument 1 has kernel.size but argument 0 before it has none}}
func.func @size_order(%b: index, %t: index {kernel.size = "tokens"}) { return }

// -----

// expected-error @+1 {{argument 1 has the kernel.size of argument 0, "tokens"}}
func.func @size_twice(%b: index {kernel.size = "tokens"}, %t: index {kernel.size = "tokens"}) { return }

// -----

// expected-error @+1 {{result 0 has kernel.output but this belongs to an argument}}
func.func @output_on_result(%x: tensor<?xf32>) -> (tensor<?xf32> {kernel.output}) {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{argument 0 has kernel.output = true but it must be without a value}}
func.func @output_value(%x: memref<?xf32> {kernel.output = true}) { return }

// -----

// expected-error @+1 {{argument 0 has kernel.output but is 'tensor<?xf32>', no memref}}
func.func @output_type(%x: tensor<?xf32> {kernel.output}) { return }

// -----

// expected-error @+1 {{has kernel.arena_bytes_per_row = -1 : i64 but it must be an i64 of at least 0}}
func.func @arena_bytes_per_row() attributes {kernel.arena_bytes_per_row = -1} { return }

// -----

// expected-error @+1 {{has kernel.arena_fixed_bytes = -1 : i64 but it must be an i64 of at least 0}}
func.func @arena_fixed_bytes() attributes {kernel.arena_fixed_bytes = -1} { return }

// -----

// expected-error @+1 {{has kernel.fixed_tokens = 0 : i64 but it must be an i64 of at least 1}}
func.func @fixed_tokens() attributes {kernel.fixed_tokens = 0} { return }

// -----

// expected-error @+1 {{has kernel.slots = 0 : i64 but it must be an i64 of at least 1}}
func.func @slots() attributes {kernel.slots = 0} { return }

// -----

// expected-error @+1 {{has kernel.state_rows = 1 : i64 but it must be without a value}}
func.func @state_rows() attributes {kernel.state_rows = 1} { return }

// -----

// expected-error @+1 {{has kernel.padding_ends = 4 : i64 but it must be an i64 from 0 to 3}}
func.func @padding_ends() attributes {kernel.padding_ends = 4} { return }

// -----

// expected-error @+1 {{has kernel.mask_input = -1 : i64 but it must be an i64 of at least 0}}
func.func @mask_input() attributes {kernel.mask_input = -1} { return }

// -----

// expected-error @+1 {{has kernel.mask_input = 1 but the function has 1 inputs}}
func.func @mask_input_count(%b: index {kernel.size = "batch"}, %x: memref<?xi32>, %y: memref<?xf32> {kernel.output}) attributes {kernel.mask_input = 1} { return }

// -----

// expected-error @+1 {{has kernel.fusions = "add" but it must be a list of dictionaries}}
func.func @fusions() attributes {kernel.fusions = "add"} { return }

// -----

// expected-error @+1 {{has kernel.bodies = [1] but it must be a list of dictionaries}}
func.func @bodies() attributes {kernel.bodies = [1]} { return }

// -----

// expected-error @+1 {{has kernel.fusions whose entry 1 has no i64 'launches_saved' of at least 0}}
func.func @fusions_number() attributes {kernel.fusions = [
  {boundary = "add-norm", unit = "a", layers = "", status = "fused", reason = "", bytes_saved = 8 : i64, launches_saved = 1 : i64},
  {boundary = "add-norm", unit = "a", layers = "", status = "fused", reason = "", bytes_saved = 8 : i64, launches_saved = "one"}]} { return }

// -----

// expected-error @+1 {{has kernel.bodies whose entry 0 has no string 'difference'}}
func.func @bodies_text() attributes {kernel.bodies = [{stack = 0 : i64, body = 0 : i64, layers = "0-3"}]} { return }

// -----

// expected-error @+1 {{has kernel.bodies whose entry 0 has a key 'depth' that no such entry has}}
func.func @bodies_key() attributes {kernel.bodies = [{stack = 0 : i64, body = 0 : i64, layers = "0-3", difference = "", depth = 4 : i64}]} { return }

// -----

func.func @joined_alone(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  // expected-error @+1 {{has kernel.joined = unit but only rows of a launch have it, without a value}}
  kernel.rows ins(%x : memref<?x8xf32>) outs(%y : memref<?x8xf32>) gather [-1] attributes {kernel.joined} {
  ^bb0(%n: f32):
    kernel.yield %n : f32
  }
  return
}

// -----

func.func @joined_first(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  kernel.launch {
    // expected-error @+1 {{has kernel.joined but is the first of its launch}}
    kernel.rows ins(%x : memref<?x8xf32>) outs(%y : memref<?x8xf32>) gather [-1] attributes {kernel.joined} {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.yield
  }
  return
}

// -----

func.func @joined_gathers(%x: memref<?x8xf32>, %t: memref<4x8xf32>, %i: memref<?xi32>, %y: memref<?x8xf32>) {
  kernel.launch {
    kernel.rows ins(%x : memref<?x8xf32>) outs(%y : memref<?x8xf32>) gather [-1] {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    // expected-error @+1 {{has kernel.joined but gathers an input}}
    kernel.rows ins(%t : memref<4x8xf32>) indices(%i : memref<?xi32>) outs(%y : memref<?x8xf32>) gather [0] attributes {kernel.joined} {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    }
    kernel.yield
  }
  return
}

// -----

func.func @joined_on_tensors(%x: tensor<?x8xf32>) {
  kernel.launch {
    %y = kernel.rows ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) gather [-1] {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    } -> tensor<?x8xf32>
    // expected-error @+1 {{has kernel.joined but is not planned}}
    %z = kernel.rows ins(%y : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) gather [-1] attributes {kernel.joined} {
    ^bb0(%n: f32):
      kernel.yield %n : f32
    } -> tensor<?x8xf32>
    kernel.yield
  }
  return
}

// -----

func.func @updates_on_a_loop_forward(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{has kernel.updates = [@w] but only a reversed loop has it, a list of its columns}}
  %y = kernel.layers %x slots [["w"]] bodies [0] table [[@a]] attributes {kernel.updates = [@w]} {
  ^bb0(%s: tensor<?x8xf32>):
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @updates_of_no_column(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{has kernel.updates with @v, which is no column}}
  %y = kernel.layers %x reverse slots [["w"]] bodies [0] table [[@a]] attributes {kernel.updates = [@v]} {
  ^bb0(%s: tensor<?x8xf32>):
    kernel.yield %s : tensor<?x8xf32>
  } : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

// expected-error @+1 {{argument 0 has kernel.windows = 3 : i64 but it must be a list of i64 of at least 0}}
func.func @windows_value(%x: tensor<2x?x8xf32> {kernel.windows = 3 : i64, transformer.state}) { return }

// -----

// expected-error @+1 {{argument 0 has kernel.windows but is 'tensor<2x?x8xf32>', no state of rows}}
func.func @windows_without_state(%x: tensor<2x?x8xf32> {kernel.windows = array<i64: 3, 0>}) { return }

// -----

// expected-error @+1 {{argument 0 has 1 kernel.windows but the state has 2 entries}}
func.func @windows_count(%x: tensor<2x?x8xf32> {kernel.windows = array<i64: 3>, transformer.state}) { return }

// -----

// expected-error @+1 {{argument 0 has kernel.windows but no kernel.panel_heads}}
func.func @windows_alone(%x: tensor<2x?x8xf32> {kernel.windows = array<i64: 3, 0>, transformer.state}) { return }

// -----

// expected-error @+1 {{argument 0 has kernel.panel_heads but is 'tensor<2x?x8xf32>', no state of rows}}
func.func @panel_heads_without_state(%x: tensor<2x?x8xf32> {kernel.panel_heads = 2 : i64}) { return }

// -----

// expected-error @+1 {{argument 0 has kernel.panel_heads but no kernel.panels}}
func.func @panel_heads_alone(%x: tensor<2x?x8xf32> {kernel.panel_heads = 2 : i64, transformer.state}) { return }

// -----

// expected-error @+1 {{argument 0 has kernel.panel_heads = 3 but the state has 8 columns}}
func.func @panel_heads_columns(%x: tensor<2x?x8xf32> {kernel.panel_heads = 3 : i64, kernel.panels = #kernel<state_panels keys>, transformer.state}) { return }

// -----

// expected-error @+1 {{argument 0 has kernel.panel_heads = 0 : i64 but it must be an i64 of at least 1}}
func.func @panel_heads(%x: tensor<2x?x8xf32> {kernel.panel_heads = 0 : i64, transformer.state}) { return }

// -----

// expected-error @+1 {{argument 0 has kernel.panels = "keys" but it must be keys or values}}
func.func @panels(%x: tensor<2x?x8xf32> {kernel.panels = "keys", transformer.state}) { return }
