# Writes the page of `indim view` as a C array: cmake -DFOLDER=tools/indim/view -DOUT=view_page.c -P view_page.cmake. The style
# and the scripts, in the order of SCRIPTS, are put into page.html.
set(SCRIPTS model dom picture graph program steps memory main)

file(READ ${FOLDER}/page.html page)
file(READ ${FOLDER}/view.css style)
set(script "")
foreach(name IN LISTS SCRIPTS)
  file(READ ${FOLDER}/${name}.js part)
  string(APPEND script "${part}")
endforeach()
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
file(WRITE ${OUT}.html "${page}")
file(READ ${OUT}.html bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(
  WRITE ${OUT}
  "#include \"view.h\"\n\nconst unsigned char view_page[] = {\n${bytes}};\nconst size_t view_page_size = sizeof view_page;\n"
)
