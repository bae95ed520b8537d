# Benchmarks: each bench/*.c is a program on the public headers, run by `./dev bench` from the release build.

file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.c)
foreach(source IN LISTS bench_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(bench_${name} ${source})
  target_compile_definitions(bench_${name} PRIVATE _POSIX_C_SOURCE=200809L)
  target_link_libraries(bench_${name} PRIVATE indim::indim_static m)
  indim_compile_settings(bench_${name})
endforeach()
