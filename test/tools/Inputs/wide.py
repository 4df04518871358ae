"""Prints a program of one kernel that reads its input so many times. wide.py COUNT"""
import sys

count = int(sys.argv[1])


def each(text):
    return ", ".join(text % i if "%d" in text else text for i in range(count))


print(f"""transformer.model @m {{
  func.func @forward(%batch: index {{kernel.size = "batch"}}, %tokens: index {{kernel.size = "tokens"}},
      %x: tensor<?x8xf32> {{transformer.name = "x", transformer.shape = #transformer.shape<batch, tokens, 8>}})
      -> (tensor<?x8xf32> {{transformer.name = "y", transformer.shape = #transformer.shape<batch, tokens, 8>}}) {{
    %rows = arith.muli %batch, %tokens : index
    %o = tensor.empty(%rows) : tensor<?x8xf32>
    %y = kernel.rows ins({each("%x")} : {each("tensor<?x8xf32>")}) outs(%o : tensor<?x8xf32>) gather [{each("-1")}] {{
    ^bb0({each("%%a%d: f32")}):
      kernel.yield %a0 : f32
    }} -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }}
}}""")
