# Compiler settings. Targets of ours call indim_compile_settings(target); generated code does not, so that its warnings
# are not ours.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

set(INDIM_GNU_LIKE OFF)
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  set(INDIM_GNU_LIKE ON)
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Values are strict IEEE: no contraction of a * b + c, no reassociation, whatever flags an embedding project has.
add_library(indim_strict_float INTERFACE)
if(INDIM_GNU_LIKE)
  target_compile_options(indim_strict_float INTERFACE -ffp-contract=off -fno-fast-math)
endif()

# What the whole build shares: sanitizers and coverage have to be in every object and every link.
add_library(indim_instrumentation INTERFACE)
if(INDIM_SANITIZE)
  target_compile_options(
    indim_instrumentation INTERFACE -fsanitize=${INDIM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
  )
  target_link_options(indim_instrumentation INTERFACE -fsanitize=${INDIM_SANITIZE})
endif()
if(INDIM_COVERAGE)
  target_compile_options(indim_instrumentation INTERFACE --coverage -fprofile-update=single) # atomic ones take the kernels' time
  target_link_options(indim_instrumentation INTERFACE --coverage)
endif()
if(INDIM_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "INDIM_FUZZ needs clang and its libFuzzer; this is ${CMAKE_C_COMPILER_ID}")
  endif()
  target_compile_options(indim_instrumentation INTERFACE -fsanitize=fuzzer-no-link)
endif()

set(INDIM_WARNINGS
    -Wall
    -Wextra
    -Wpedantic
    -Wconversion
    -Wshadow
    -Wmissing-prototypes
    -Wswitch-enum
    -Wundef
    -Wvla
)

function(indim_compile_settings target)
  # Not under gcc's sanitizers: it then folds less before it looks, and warns wrongly. Other presets see the same code.
  if(INDIM_GNU_LIKE AND NOT (INDIM_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU"))
    target_compile_options(${target} PRIVATE ${INDIM_WARNINGS})
    if(INDIM_WARNINGS_AS_ERRORS)
      target_compile_options(${target} PRIVATE -Werror)
    endif()
  endif()
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:indim_instrumentation>)
endfunction()
