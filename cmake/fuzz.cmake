# Fuzz targets: each fuzz/*.c has an LLVMFuzzerTestOneInput and becomes fuzz_<name>, run by `./dev fuzz`.

file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*.c)
foreach(source IN LISTS fuzz_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(fuzz_${name} ${source})
  target_include_directories(
    fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests/unit ${PROJECT_SOURCE_DIR}/tests/prop
  )
  target_link_libraries(fuzz_${name} PRIVATE indim_static m)
  indim_compile_settings(fuzz_${name})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endforeach()
