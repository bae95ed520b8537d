# tests/python/*.py, on the package in the build folder. With AddressSanitizer Python has to start with its runtime, and those are
# left out that measure the process (which the sanitizer makes grow) or are mostly JAX's work; other sanitizers are no guests of
# Python's.

file(GLOB package_tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/tests/python ${PROJECT_SOURCE_DIR}/tests/python/[!_]*.py)
set(package_environment "PYTHONPATH=${INDIM_PYTHON_STAGE}")
if(INDIM_SANITIZE AND NOT INDIM_SANITIZE MATCHES "address")
  set(package_tests "")
elseif(INDIM_SANITIZE)
  set(package_tests calls.py hostile.py sharing.py without_numpy.py)
  set(preload "")  # C++'s library before JAX's, or the runtime does not find what throws
  foreach(runtime IN ITEMS libasan.so libstdc++.so)
    execute_process(
      COMMAND ${CMAKE_C_COMPILER} -print-file-name=${runtime}
      OUTPUT_VARIABLE runtime_path
      OUTPUT_STRIP_TRAILING_WHITESPACE
    )
    string(APPEND preload "${runtime_path}:")
  endforeach()
  list(APPEND package_environment "LD_PRELOAD=${preload}" "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1")
endif()

foreach(script IN LISTS package_tests)
  string(REGEX REPLACE "\\.py$" "" name ${script})
  add_test(
    NAME python/${name}
    COMMAND ${INDIM_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/python/${script}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  )
  set_tests_properties(python/${name} PROPERTIES LABELS python TIMEOUT 1200 ENVIRONMENT "${package_environment}")
endforeach()

if(TARGET pjrt_indim AND NOT INDIM_SANITIZE)
  add_test(
    NAME jax/callbacks
    COMMAND ${INDIM_TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/jax/callbacks.py
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  )
  set_tests_properties(
    jax/callbacks PROPERTIES LABELS jax TIMEOUT 600 ENVIRONMENT "INDIM_PYTHON_PATH=${INDIM_PYTHON_STAGE}"
  )
endif()
