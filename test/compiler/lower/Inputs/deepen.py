# Repeats the two layers of lower-program.mlir: deepen.py FILE TIMES.
import sys

text, times = open(sys.argv[1]).read(), int(sys.argv[2])
text = text.replace("bodies [0, 1]", f"bodies [{', '.join(['0, 1'] * times)}]")
text = text.replace("table [[@a], []]",
                    f"table [{', '.join(['[@a], []'] * times)}]")
print(text)
