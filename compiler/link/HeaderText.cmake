# Turns mille.h, with mille_train.h in its place, into a C++ header with its text, and
# compares its functions with those of functions.def and training.def: -DINPUT=
# -DFUNCTIONS=FILE;FILE -DOUTPUT=.
cmake_minimum_required(VERSION 3.25)
file(READ ${INPUT} text)
cmake_path(REPLACE_FILENAME INPUT mille_train.h OUTPUT_VARIABLE part)
file(READ ${part} training)
string(REPLACE "#include \"mille_train.h\"\n" "${training}" text "${text}")
set(listed "")
foreach(file ${FUNCTIONS})
  file(READ ${file} more)
  string(APPEND listed "${more}")
endforeach()
string(REGEX MATCHALL "mille_[a-z_]+\\(" declared "${text}")
string(REGEX MATCHALL "MILLE_FUNCTION\\(mille_[a-z_]+" listed "${listed}")
list(TRANSFORM declared REPLACE "\\($" "")
list(TRANSFORM listed REPLACE "^MILLE_FUNCTION\\(" "")
list(REMOVE_DUPLICATES declared)
foreach(function ${declared})
  if(NOT function IN_LIST listed)
    message(FATAL_ERROR "mille.h declares ${function} but functions.def has no "
      "line MILLE_FUNCTION(${function}): add it at the end")
  endif()
endforeach()
foreach(function ${listed})
  if(NOT function IN_LIST declared)
    message(FATAL_ERROR "functions.def has ${function} but mille.h declares no "
      "such function: packages of earlier builds need its line")
  endif()
endforeach()
file(WRITE ${OUTPUT}
  "static constexpr char milleHeaderText[] = R\"_mille_(${text})_mille_\";\n")
