# Fuzz targets: each fuzz/*.c has an LLVMFuzzerTestOneInput and becomes fuzz_<name>, run by `./dev fuzz`.

file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*.c)
foreach(source IN LISTS fuzz_sources)
  get_filename_component(name ${source} NAME_WE)
  if(name MATCHES "^(picture|lsp)$" AND NOT TARGET indim_picture)
    continue() # they are made of the command line
  endif()
  add_executable(fuzz_${name} ${source})
  target_include_directories(
    fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests/unit ${PROJECT_SOURCE_DIR}/tests/prop
  )
  if(TARGET indim_picture)
    target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tools/indim/picture)
    target_link_libraries(fuzz_${name} PRIVATE indim_picture)
  endif()
  target_link_libraries(fuzz_${name} PRIVATE indim_static m)
  indim_compile_settings(fuzz_${name})
  if(name STREQUAL "lsp")  # of the command line, without its main
    set(sources ${tool_sources})
    list(FILTER sources EXCLUDE REGEX "/main\\.c$")
    target_sources(fuzz_${name} PRIVATE ${sources} ${view_page})
    target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tools/indim)
    target_compile_definitions(fuzz_${name} PRIVATE _POSIX_C_SOURCE=200809L INDIM_VERSION="${PROJECT_VERSION}")
    target_link_libraries(fuzz_${name} PRIVATE indim_picture PkgConfig::MINIZIP PkgConfig::CJSON ${CMAKE_DL_LIBS})
  endif()
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endforeach()
