// Writes a page for a browser: one HTML file with its data as JSON, the script
// that draws it, and the library that the script draws with. It loads nothing.
// Must not compute anything.
#include "compiler/pages/Page.h"

#include "compiler/pages/Texts.h"
#include "llvm/ADT/SmallVector.h"

using namespace mille;
using llvm::StringRef;

// Text between tags.
static void writeEscaped(StringRef text, llvm::raw_ostream &out) {
  for (char c : text)
    switch (c) {
    case '&':
      out << "&amp;";
      break;
    case '<':
      out << "&lt;";
      break;
    case '>':
      out << "&gt;";
      break;
    default:
      out << c;
    }
}

// JSON in a script element: "</script>" in a string must not end it. Outside
// strings JSON has no "<".
static void writeJsonElement(StringRef json, llvm::raw_ostream &out) {
  out << "<script type=\"application/json\" id=\"data\">";
  for (char c : json)
    if (c == '<')
      out << "\\u003c";
    else
      out << c;
  out << "</script>\n";
}

void mille::writePage(PageKind kind, StringRef title, StringRef json,
                      llvm::raw_ostream &out, unsigned reload) {
  out << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, "
         "initial-scale=1\">\n";
  if (reload)
    out << "<meta http-equiv=\"refresh\" content=\"" << reload << "\">\n";
  out << "<title>";
  writeEscaped(title, out);
  out << "</title>\n<style>\n" << pageCss << "</style></head>\n<body>\n";
  writeJsonElement(json, out);
  out << "<!--\n"
      << chartLicense << "-->\n<script>" << chartJs << "</script>\n";
  llvm::SmallVector<StringRef> scripts{pageJs};
  if (kind == PageKind::depth)
    scripts.push_back(depthJs);
  else if (kind == PageKind::loss)
    scripts.push_back(lossJs);
  else
    scripts.append({unitsJs, reportJs});
  for (StringRef script : scripts)
    out << "<script>\n" << script << "</script>\n";
  out << "</body></html>\n";
}
