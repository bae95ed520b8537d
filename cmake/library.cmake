# libindim, shared and static, from one set of objects. The layers are the folders of src/, in the order in which they
# may include each other (docs/architecture.md); those of loop/ have rooms of their own.

set(INDIM_LAYERS base array graph text stablehlo proto read ffi linalg eval expand loop run pipeline)

set(indim_sources "")
foreach(layer IN LISTS INDIM_LAYERS)
  file(GLOB_RECURSE layer_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*.c)
  list(APPEND indim_sources ${layer_sources})
endforeach()

add_library(indim_objects OBJECT ${indim_sources})
set_target_properties(indim_objects PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
target_compile_definitions(indim_objects PRIVATE INDIM_BUILDING)
target_include_directories(indim_objects PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(indim_objects PRIVATE "INDIM_LIBRARY_FOLDER=\"${CMAKE_INSTALL_LIBDIR}\"")
target_link_libraries(indim_objects PRIVATE indim_strict_float)
indim_compile_settings(indim_objects)
if(INDIM_GNU_LIKE)
  # The order and rounding of sums is ours in a matrix product, a convolution, a Fourier transform and a factorization. They and
  # the sorts are unrolled so far that they take most of a build's time: presets that need not be fast compile them with less
  # (INDIM_KERNEL_OPTIMIZATION). Fuzz targets reach none of them, so that there they are not instrumented.
  set(INDIM_KERNEL_OPTIMIZATION -O3 CACHE STRING "How the kernels of products, transforms and sorts are optimized")
  mark_as_advanced(INDIM_KERNEL_OPTIMIZATION)
  set(kernel_options ${INDIM_KERNEL_OPTIMIZATION} -ffp-contract=fast -fno-math-errno)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND kernel_options -fno-var-tracking)
  endif()
  if(INDIM_FUZZ)
    list(APPEND kernel_options -fno-sanitize=all)
  endif()
  set_source_files_properties(
    ${PROJECT_SOURCE_DIR}/src/run/gemm.c ${PROJECT_SOURCE_DIR}/src/run/gemm_narrow.c
    ${PROJECT_SOURCE_DIR}/src/run/convolution_block.c ${PROJECT_SOURCE_DIR}/src/run/convolution_narrow.c
    ${PROJECT_SOURCE_DIR}/src/run/fft_kernels.c
    ${PROJECT_SOURCE_DIR}/src/run/sort.c ${PROJECT_SOURCE_DIR}/src/linalg/lanes.c
    ${PROJECT_SOURCE_DIR}/src/linalg/substitute.c
    PROPERTIES COMPILE_OPTIONS "${kernel_options}"
  )
endif()

# The wire format: protoc-c writes array/wire.pb-c.{h,c} into the build folder from src/array/wire.proto.
set(INDIM_HAS_WIRE OFF)
set(indim_all_objects $<TARGET_OBJECTS:indim_objects>)
file(GLOB wire_proto CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/array/wire.proto)
if(wire_proto)
  set(INDIM_HAS_WIRE ON)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
  find_program(PROTOC_C protoc-c REQUIRED)
  set(INDIM_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${INDIM_GENERATED_DIR}/array)
  add_custom_command(
    OUTPUT ${INDIM_GENERATED_DIR}/array/wire.pb-c.c ${INDIM_GENERATED_DIR}/array/wire.pb-c.h
    COMMAND ${PROTOC_C} --proto_path=${PROJECT_SOURCE_DIR}/src --c_out=${INDIM_GENERATED_DIR} array/wire.proto
    DEPENDS ${wire_proto}
    VERBATIM
  )
  add_library(indim_wire_objects OBJECT ${INDIM_GENERATED_DIR}/array/wire.pb-c.c)
  set_target_properties(indim_wire_objects PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  target_include_directories(indim_wire_objects PRIVATE ${INDIM_GENERATED_DIR})
  target_link_libraries(indim_wire_objects PRIVATE PkgConfig::PROTOBUF_C indim_instrumentation)
  list(APPEND indim_all_objects $<TARGET_OBJECTS:indim_wire_objects>)
  add_dependencies(indim_objects indim_wire_objects)
  target_include_directories(indim_objects SYSTEM PRIVATE ${INDIM_GENERATED_DIR} ${PROTOBUF_C_INCLUDE_DIRS})
endif()

add_library(indim SHARED ${indim_all_objects})
add_library(indim_static STATIC ${indim_all_objects})
add_library(indim::indim ALIAS indim)
add_library(indim::indim_static ALIAS indim_static)

foreach(target IN ITEMS indim indim_static)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME indim LINKER_LANGUAGE C)
  target_include_directories(
    ${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  )
  # A static library passes what it needs on to whoever links it.
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:indim_instrumentation>)
  if(UNIX)
    target_link_libraries(${target} PRIVATE m ${CMAKE_DL_LIBS} -pthread)
  endif()
  if(INDIM_HAS_WIRE)
    target_link_libraries(${target} PRIVATE PkgConfig::PROTOBUF_C)
  endif()
endforeach()

# Before 1.0 every minor version may change the binary interface, so the soname carries it.
set_target_properties(
  indim PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
)
# A rule that nobody wrote does not link. (Sanitized libraries find their runtime in the executable.)
if(INDIM_GNU_LIKE AND UNIX AND NOT APPLE AND NOT INDIM_SANITIZE)
  target_link_options(indim PRIVATE -Wl,--no-undefined)
endif()
