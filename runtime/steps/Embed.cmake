# Writes texts as constants of C++: -DINPUTS=NAME=FILE,FILE,...;... -DOUTPUT=. A text is
# that of its files, one after the other.
cmake_minimum_required(VERSION 3.25)
set(all "")
foreach(input ${INPUTS})
  string(REGEX MATCH "^[^=]*" name ${input})
  string(REGEX REPLACE "^[^=]*=" "" files ${input})
  string(REPLACE "," ";" files ${files})
  set(text "")
  foreach(file ${files})
    file(READ ${file} more)
    string(APPEND text "${more}")
  endforeach()
  # Comments of the source say nothing to a device's compiler.
  string(REGEX REPLACE "(^|\n)//[^\n]*" "" text "${text}")
  string(APPEND all
    "static constexpr char text${name}[] = R\"_mille_(${text})_mille_\";\n")
endforeach()
file(WRITE ${OUTPUT} "${all}")
