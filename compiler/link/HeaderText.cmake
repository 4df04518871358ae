# Turns a C header into a C++ header with its text: -DINPUT= -DOUTPUT=.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT}
  "static constexpr char milleHeaderText[] = R\"_mille_(${text})_mille_\";\n")
