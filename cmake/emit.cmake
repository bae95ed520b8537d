# libindim-llvm: the code generator, a module that libindim loads when something is compiled for the first time. It has its
# own copy of the lower layers (there is no global state) and shows one name, so that nothing else of Indim needs LLVM.
#
# INDIM_LLVM: AUTO builds it when LLVM 19 is there, ON insists, OFF leaves it out. Afterwards INDIM_HAS_LLVM says which.
#
# What of LLVM it needs is linked into it where LLVM's archives are there: a quarter of the whole library, so that a process
# loads it in 3 ms instead of 14 and with 25 MB instead of 64, and shares no LLVM with others. INDIM_LLVM_SHARED leaves LLVM
# to the system's library.
#
# INDIM_LLVM_TARGETS: the processor families that code can be made for (X86, AArch64, RISCV), of those that this LLVM has; the
# host's own is always there. Each adds 5 to 8 MB to the file, and nothing to a process that does not ask for it.

include(CheckLinkerFlag)

set(INDIM_HAS_LLVM OFF)
if(NOT INDIM_LLVM STREQUAL "OFF")
  find_program(INDIM_LLVM_CONFIG NAMES llvm-config-19 llvm-config)
  set(llvm_version "")
  if(INDIM_LLVM_CONFIG)
    execute_process(
      COMMAND ${INDIM_LLVM_CONFIG} --version --includedir --libdir
      OUTPUT_VARIABLE llvm_answers
      OUTPUT_STRIP_TRAILING_WHITESPACE
    )
    string(REPLACE "\n" ";" llvm_answers "${llvm_answers}")
    list(GET llvm_answers 0 llvm_version)
  endif()
  if(llvm_version MATCHES "^19\\.")
    list(GET llvm_answers 1 llvm_include)
    list(GET llvm_answers 2 llvm_libdir)
    find_library(INDIM_LLVM_LIBRARY NAMES LLVM-19 LLVM PATHS ${llvm_libdir} NO_DEFAULT_PATH)
    find_library(INDIM_LLVM_ARCHIVE NAMES libLLVMCore.a PATHS ${llvm_libdir} NO_DEFAULT_PATH)
  endif()
  if(INDIM_LLVM_LIBRARY)
    set(INDIM_HAS_LLVM ON)
  elseif(NOT INDIM_LLVM STREQUAL "AUTO")
    message(FATAL_ERROR "INDIM_LLVM needs LLVM 19 with llvm-config (Debian: llvm-19-dev); found '${llvm_version}'")
  endif()
endif()

# The families: a definition for each that is there, and the name of its component.
set(llvm_components nativecodegen orcjit)
set(llvm_definitions "")
if(INDIM_HAS_LLVM)
  execute_process(
    COMMAND ${INDIM_LLVM_CONFIG} --targets-built
    OUTPUT_VARIABLE llvm_families
    OUTPUT_STRIP_TRAILING_WHITESPACE
  )
  separate_arguments(llvm_families)
  foreach(family IN LISTS INDIM_LLVM_TARGETS)
    if(family IN_LIST llvm_families)
      string(TOUPPER ${family} family_upper)
      string(TOLOWER ${family} family_lower)
      list(APPEND llvm_definitions INDIM_LLVM_HAS_${family_upper}=1)
      list(APPEND llvm_components ${family_lower}codegen)
    endif()
  endforeach()
endif()

# What the archives need of the system; the names of the libraries themselves will do, headers are not needed.
set(INDIM_LLVM_LINKED ${INDIM_LLVM_LIBRARY})
if(INDIM_LLVM_ARCHIVE AND NOT INDIM_LLVM_SHARED AND INDIM_GNU_LIKE AND UNIX AND NOT APPLE)
  find_library(INDIM_LLVM_STDCXX NAMES stdc++ libstdc++.so.6)
  find_library(INDIM_LLVM_Z NAMES z libz.so.1)
  find_library(INDIM_LLVM_ZSTD NAMES zstd libzstd.so.1)
  execute_process(
    COMMAND ${INDIM_LLVM_CONFIG} --link-static --libs ${llvm_components}
    OUTPUT_VARIABLE llvm_archives
    OUTPUT_STRIP_TRAILING_WHITESPACE
  )
  if(INDIM_LLVM_STDCXX AND INDIM_LLVM_Z AND INDIM_LLVM_ZSTD AND llvm_archives)
    separate_arguments(llvm_archives)
    set(INDIM_LLVM_LINKED -L${llvm_libdir} ${llvm_archives} ${INDIM_LLVM_ZSTD} ${INDIM_LLVM_Z} ${INDIM_LLVM_STDCXX})
  endif()
endif()

if(INDIM_HAS_LLVM)
  file(GLOB_RECURSE emit_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/emit/*.c)
  add_library(indim_emit_objects OBJECT ${emit_sources})
  set_target_properties(indim_emit_objects PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  target_compile_definitions(indim_emit_objects PRIVATE _POSIX_C_SOURCE=200809L ${llvm_definitions})
  target_include_directories(indim_emit_objects PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(indim_emit_objects SYSTEM PRIVATE ${llvm_include})
  target_link_libraries(indim_emit_objects PRIVATE indim_strict_float)
  indim_compile_settings(indim_emit_objects)

  add_library(indim_llvm MODULE $<TARGET_OBJECTS:indim_emit_objects>)
  set_target_properties(indim_llvm PROPERTIES OUTPUT_NAME indim-llvm LINKER_LANGUAGE C)
  target_link_libraries(indim_llvm PRIVATE indim_static ${INDIM_LLVM_LINKED} m $<BUILD_INTERFACE:indim_instrumentation>)
  if(INDIM_GNU_LIKE AND UNIX AND NOT APPLE)
    # LLVM keeps a pointer to our handler of fatal errors, so the module stays once it is loaded.
    target_link_options(indim_llvm PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-z,nodelete)
    check_linker_flag(C -Wl,-z,pack-relative-relocs INDIM_HAS_PACKED_RELOCATIONS)
    if(INDIM_HAS_PACKED_RELOCATIONS)
      target_link_options(indim_llvm PRIVATE -Wl,-z,pack-relative-relocs)
    endif()
    if(NOT INDIM_SANITIZE)
      target_link_options(indim_llvm PRIVATE -Wl,--no-undefined)
    endif()
  endif()
endif()
