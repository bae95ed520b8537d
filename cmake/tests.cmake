# Tests. Every test runs in the project's root. The C ones (tests/unit, tests/prop, tests/oom: one executable a file)
# link the static library and may see internal headers. The Python ones are added when INDIM_TEST_PYTHON names an
# interpreter: tests/witness/*.py, tests/cli/*.py, tests/prop/*.py, tests/python/*.py and tests/*/run.py; a file whose name starts with
# an underscore is a module of the others. They find what was built in the environment:
#   INDIM_BIN  the command line    INDIM_LIB  the shared library
#   INDIM_WITNESS_LIB  tests/witness/*.c with the static library, for internals that Python calls through ctypes
#   INDIM_PJRT  the plugin of JAX
# Of tests/conformance and tests/jax, samples that are the same each time; all of them are ./dev conformance and jax-tests.
# The label of a test is its folder.

find_package(Threads REQUIRED)

# For the tests that ask for more memory than there is: malloc returns NULL, as it does without the sanitizer.
set(sanitizer_environment "ASAN_OPTIONS=allocator_may_return_null=1" "UBSAN_OPTIONS=print_stacktrace=1")

# Builds with sanitizers look for reads out of place, and are slow: of large sets of cases they take one in so many
# (TEST_SAMPLE in C, INDIM_TEST_SAMPLE for Python). All are tested without them.
set(test_sample 1)
if(INDIM_SANITIZE)
  set(test_sample 3)
endif()

# Seconds that the longest tests take, so that none of them begins last in a build folder where none has run before.
set(test_costs
    emulate/run=110 jax/run=130 prop/targets=100 jax_workloads/run=90 unit/run_matmul=40 witness/linalg=80
    unit/run_matmul_narrow=40 oom/compile=90 witness/workloads=80 unit/pipeline_kernels=80 witness/eval_xla=75 aot/run=60
    witness/infer=60 unit/emit_scalar=50 witness/programs=50 unit/run_fft=25 unit/run_convolution=25 jax/callbacks=40
    witness/proto=38 witness/ragged_dot=38 conformance/run=35 view/run=35 witness/rng=33 witness/hlo_text=28
    witness/stablehlo=25 unit/eval_types=25 unit/expand_rng=23 cli/commands=22 witness/fft=20
)

# What runs several threads, for a build that looks at nothing else.
add_custom_target(test_threads)
if(TARGET indim_llvm)
  add_dependencies(test_threads indim_llvm)
endif()

foreach(folder IN ITEMS unit prop oom)
  file(GLOB test_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*.c)
  foreach(source IN LISTS test_sources)
    get_filename_component(name ${source} NAME_WE)
    if(name MATCHES "fork$" AND INDIM_SANITIZE)
      continue() # a child of several threads may find the sanitizer's own locks held for ever
    endif()
    if(name MATCHES "^emit_" AND NOT INDIM_HAS_LLVM)
      continue()
    endif()
    if(name MATCHES "^picture" AND NOT TARGET indim_picture)
      continue()
    endif()
    set(target test_${folder}_${name})
    add_executable(${target} ${source})
    if(name MATCHES "^emit_")
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:indim_emit_objects>)
      target_include_directories(${target} SYSTEM PRIVATE ${llvm_include})
      target_link_libraries(${target} PRIVATE ${INDIM_LLVM_LIBRARY})
    endif()
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L TEST_SAMPLE=${test_sample})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests/unit)
    if(name MATCHES "^picture")
      target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tools/indim/picture)
      target_link_libraries(${target} PRIVATE indim_picture)
    endif()
    target_link_libraries(${target} PRIVATE indim_static indim_strict_float Threads::Threads m)
    indim_compile_settings(${target})
    add_test(NAME ${folder}/${name} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${folder}/${name} PROPERTIES LABELS ${folder} TIMEOUT 600 ENVIRONMENT "${sanitizer_environment}")
    if(name MATCHES "threads" OR target STREQUAL "test_prop_compile")
      set_tests_properties(${folder}/${name} PROPERTIES LABELS "${folder};threads")
      add_dependencies(test_threads ${target})
    endif()
    if(target STREQUAL "test_prop_targets")  # it starts a process for each processor
      set_tests_properties(${folder}/${name} PROPERTIES PROCESSORS 2)
    endif()
  endforeach()
endforeach()

set(test_environment "INDIM_LIB=$<TARGET_FILE:indim>" "INDIM_TEST_SAMPLE=${test_sample}" ${sanitizer_environment})
if(TARGET indim_tool)
  list(APPEND test_environment "INDIM_BIN=$<TARGET_FILE:indim_tool>")
endif()
if(TARGET pjrt_indim)
  list(APPEND test_environment "INDIM_PJRT=$<TARGET_FILE:pjrt_indim>")
endif()
file(GLOB witness_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/witness/*.c)
if(witness_sources)
  add_library(indim_witness MODULE ${witness_sources})
  set_target_properties(indim_witness PROPERTIES C_VISIBILITY_PRESET hidden)
  target_include_directories(indim_witness PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(indim_witness PRIVATE indim_static indim_strict_float m)
  indim_compile_settings(indim_witness)
  list(APPEND test_environment "INDIM_WITNESS_LIB=$<TARGET_FILE:indim_witness>")
endif()

# Clients of the plugin, which they load: tests/pjrt/*.c.
if(TARGET pjrt_indim)
  add_library(pjrt_failing OBJECT ${pjrt_sources})
  target_compile_definitions(
    pjrt_failing PRIVATE _POSIX_C_SOURCE=200809L INDIM_PLUGIN_VERSION="${PROJECT_VERSION}" INDIM_PJRT_FAILS
  )
  target_compile_options(pjrt_failing PRIVATE -include ${PROJECT_SOURCE_DIR}/tests/pjrt/failing.h)
  target_include_directories(pjrt_failing PRIVATE ${PROJECT_SOURCE_DIR}/pjrt)
  target_link_libraries(pjrt_failing PRIVATE indim indim_instrumentation)
  indim_compile_settings(pjrt_failing)
  file(GLOB pjrt_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/pjrt/*.c)
  foreach(source IN LISTS pjrt_tests)
    get_filename_component(name ${source} NAME_WE)
    if(name STREQUAL "fork" AND INDIM_SANITIZE)
      continue() # a child of several threads may find the sanitizer's allocator locked
    endif()
    set(target test_pjrt_${name})
    add_executable(${target} ${source})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L)
    target_include_directories(
      ${target} PRIVATE ${PROJECT_SOURCE_DIR}/pjrt ${PROJECT_SOURCE_DIR}/tests/unit ${PROJECT_SOURCE_DIR}/include
                        ${PROJECT_SOURCE_DIR}/src
    )
    target_link_libraries(${target} PRIVATE indim_instrumentation Threads::Threads ${CMAKE_DL_LIBS})
    indim_compile_settings(${target})
    add_dependencies(${target} pjrt_indim)
    if(name STREQUAL "memory")  # with the plugin's own files in it, whose allocations it fails
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:pjrt_failing>)
      target_link_libraries(${target} PRIVATE indim)
    endif()
    add_test(NAME pjrt/${name} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(
      pjrt/${name}
      PROPERTIES LABELS pjrt TIMEOUT 600 ENVIRONMENT
                 "INDIM_PJRT=$<TARGET_FILE:pjrt_indim>;${sanitizer_environment}"
    )
    if(name STREQUAL "threads")
      set_tests_properties(pjrt/${name} PROPERTIES LABELS "pjrt;threads")
      add_dependencies(test_threads ${target})
    endif()
  endforeach()
endif()

if(INDIM_TEST_PYTHON)
  file(
    GLOB python_tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/tests
    ${PROJECT_SOURCE_DIR}/tests/witness/[!_]*.py ${PROJECT_SOURCE_DIR}/tests/cli/[!_]*.py
    ${PROJECT_SOURCE_DIR}/tests/prop/[!_]*.py ${PROJECT_SOURCE_DIR}/tests/*/run.py
  )
  if(TARGET indim_python AND INDIM_HAS_LLVM)
    include(cmake/python_tests.cmake)
  endif()
  foreach(script IN LISTS python_tests)
    string(REGEX REPLACE "/.*" "" folder ${script})
    string(REGEX REPLACE "\\.py$" "" name ${script})
    if(folder STREQUAL "emulate" AND (INDIM_SANITIZE OR NOT INDIM_HAS_LLVM))
      continue()  # what is executed there is not instrumented
    endif()
    if(folder STREQUAL "view" AND NOT INDIM_HAS_LLVM)
      continue()  # what it looks at is what compiling tells
    endif()
    if(folder MATCHES "^jax" AND (INDIM_SANITIZE OR NOT TARGET pjrt_indim))
      continue()  # Python would have to start with the sanitizer
    endif()
    if(folder STREQUAL "jax_workloads" AND NOT (TARGET indim_python AND INDIM_HAS_LLVM))
      continue()  # callbacks need the package
    endif()
    set(arguments)
    if(folder STREQUAL "jax")
      set(arguments --sample 180 -n 2)
    endif()
    if(folder STREQUAL "conformance")
      set(arguments --sample 160 --jobs 2)
      set(folder witness)
    endif()
    add_test(
      NAME ${name}
      COMMAND ${INDIM_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/${script} ${arguments}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    )
    set_tests_properties(${name} PROPERTIES LABELS ${folder} TIMEOUT 1200 ENVIRONMENT "${test_environment}")
    if(name MATCHES "^(emulate|conformance|jax|jax_workloads)/")
      set_tests_properties(${name} PROPERTIES PROCESSORS 2)
    endif()
    if(name STREQUAL "jax/run")
      add_test(
        NAME jax/self
        COMMAND ${INDIM_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/${script} --self-test
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      )
      set_tests_properties(jax/self PROPERTIES LABELS jax TIMEOUT 300)
    endif()
    if(name STREQUAL "conformance/run")  # the same by the other doors
      foreach(form IN ITEMS artifact text)
        add_test(
          NAME conformance/${form}
          COMMAND ${INDIM_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/${script} --form ${form} --sample 60 --jobs 2
          WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        )
        set_tests_properties(
          conformance/${form} PROPERTIES LABELS witness TIMEOUT 1200 PROCESSORS 2 ENVIRONMENT "${test_environment}"
        )
      endforeach()
    endif()
  endforeach()
endif()

foreach(row IN LISTS test_costs)
  string(REPLACE "=" ";" row ${row})
  list(GET row 0 name)
  list(GET row 1 seconds)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES COST ${seconds})
  endif()
endforeach()

# From outside: what is installed can be found, linked and run, and exports what the headers declare and nothing else.
# Instrumented libraries are for us alone, and are not what is installed.
if(UNIX AND NOT INDIM_SANITIZE AND NOT INDIM_COVERAGE)
  add_test(NAME install COMMAND ${PROJECT_SOURCE_DIR}/tests/install/run.sh ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER})
  set_tests_properties(install PROPERTIES LABELS install TIMEOUT 300 ENVIRONMENT "CMAKE=${CMAKE_COMMAND}")
  if(TARGET wheel AND INDIM_TEST_PYTHON AND CMAKE_BUILD_TYPE STREQUAL "Release")
    add_test(NAME wheel COMMAND ${INDIM_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/install/wheel.py ${PROJECT_BINARY_DIR})
    set_tests_properties(wheel PROPERTIES LABELS install TIMEOUT 600 ENVIRONMENT "CMAKE=${CMAKE_COMMAND}")
  endif()
endif()
