# The command line. It sees the public headers only and links the shared library, so that what it uses is exported.

# Pictures of shapes and broadcasts: the command line's, and what else shows them.
file(GLOB picture_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/indim/picture/*.c)
add_library(indim_picture STATIC ${picture_sources})
target_compile_definitions(indim_picture PRIVATE _POSIX_C_SOURCE=200809L)
target_include_directories(indim_picture PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/tools/indim/picture)
indim_compile_settings(indim_picture)

file(GLOB tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/indim/*.c ${PROJECT_SOURCE_DIR}/tools/indim/lsp/*.c)
if(tool_sources)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(MINIZIP REQUIRED IMPORTED_TARGET minizip)
  pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET libcjson)

  # The page of `indim view`.
  set(view_folder ${PROJECT_SOURCE_DIR}/tools/indim/view)
  set(view_page ${PROJECT_BINARY_DIR}/generated/view_page.c)
  file(GLOB view_sources CONFIGURE_DEPENDS ${view_folder}/*.html ${view_folder}/*.css ${view_folder}/*.js)
  add_custom_command(
    OUTPUT ${view_page}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${view_folder} -DOUT=${view_page} -P ${PROJECT_SOURCE_DIR}/cmake/view_page.cmake
    DEPENDS ${view_sources} ${PROJECT_SOURCE_DIR}/cmake/view_page.cmake
    VERBATIM
  )

  add_executable(indim_tool ${tool_sources} ${view_page})
  set_target_properties(
    indim_tool PROPERTIES OUTPUT_NAME indim RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} INSTALL_RPATH
                                                                                           "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
  )
  target_include_directories(indim_tool PRIVATE ${PROJECT_SOURCE_DIR}/tools/indim)
  target_compile_definitions(indim_tool PRIVATE _POSIX_C_SOURCE=200809L INDIM_VERSION="${PROJECT_VERSION}")
  target_link_libraries(indim_tool PRIVATE indim_picture indim::indim PkgConfig::MINIZIP PkgConfig::CJSON m ${CMAKE_DL_LIBS})
  indim_compile_settings(indim_tool)
endif()
