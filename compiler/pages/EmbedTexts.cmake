# Writes a C++ header with one constant for each text: -DNAMES=a;b -DFILES=A;B
# -DOUTPUT=FILE.h. A script's text may not end the element that holds it.
cmake_minimum_required(VERSION 3.25)
set(header "")
foreach(name file IN ZIP_LISTS NAMES FILES)
  file(READ ${file} text)
  if(text MATCHES "</script" OR text MATCHES "\\)_mille_\"")
    message(FATAL_ERROR "${file} cannot be embedded: it holds </script or the "
      "end of the raw string")
  endif()
  string(APPEND header
    "static constexpr char ${name}[] = R\"_mille_(${text})_mille_\";\n")
endforeach()
file(WRITE ${OUTPUT} "${header}")
