# libindim-llvm: the code generator, a module that libindim loads when something is compiled for the first time. It has its
# own copy of the lower layers (there is no global state) and shows one name, so that nothing else of Indim needs LLVM.
#
# INDIM_LLVM: AUTO builds it when LLVM 19 is there, ON insists, OFF leaves it out. Afterwards INDIM_HAS_LLVM says which.
#
# What of LLVM it needs is linked into it where LLVM's archives are there: a quarter of the whole library, so that a process
# loads it in 3 ms instead of 14 and with 25 MB instead of 64, and shares no LLVM with others. INDIM_LLVM_SHARED leaves LLVM
# to the system's library.
#
# libindim-llvm-cross is the same with the processor families of INDIM_LLVM_TARGETS (X86, AArch64, RISCV, of those that this LLVM
# has), for code that is for another machine. A library of its own, because it takes half as long again to load; the system's
# libLLVM has all families anyway.

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

# The families: the components of each that is there, and the symbols that bring it in.
set(llvm_cross_components "")
set(llvm_cross_options "")
if(INDIM_HAS_LLVM)
  execute_process(
    COMMAND ${INDIM_LLVM_CONFIG} --targets-built
    OUTPUT_VARIABLE llvm_families
    OUTPUT_STRIP_TRAILING_WHITESPACE
  )
  separate_arguments(llvm_families)
  foreach(family IN LISTS INDIM_LLVM_TARGETS)
    if(family IN_LIST llvm_families)
      string(TOLOWER ${family} family_lower)
      list(APPEND llvm_cross_components ${family_lower}codegen)
      foreach(part IN ITEMS TargetInfo Target TargetMC AsmPrinter)
        list(APPEND llvm_cross_options "-Wl,-u,LLVMInitialize${family}${part}")
      endforeach()
    endif()
  endforeach()
endif()

# What the archives need of the system; the names of the libraries themselves will do, headers are not needed.
set(INDIM_LLVM_LINKED ${INDIM_LLVM_LIBRARY})
set(INDIM_LLVM_CROSS_LINKED "")
if(INDIM_LLVM_ARCHIVE AND NOT INDIM_LLVM_SHARED AND INDIM_GNU_LIKE AND UNIX AND NOT APPLE)
  find_library(INDIM_LLVM_STDCXX NAMES stdc++ libstdc++.so.6)
  find_library(INDIM_LLVM_Z NAMES z libz.so.1)
  find_library(INDIM_LLVM_ZSTD NAMES zstd libzstd.so.1)
  execute_process(
    COMMAND ${INDIM_LLVM_CONFIG} --link-static --libs nativecodegen orcjit
    OUTPUT_VARIABLE llvm_archives
    OUTPUT_STRIP_TRAILING_WHITESPACE
  )
  if(INDIM_LLVM_STDCXX AND INDIM_LLVM_Z AND INDIM_LLVM_ZSTD AND llvm_archives)
    separate_arguments(llvm_archives)
    set(llvm_system ${INDIM_LLVM_ZSTD} ${INDIM_LLVM_Z} ${INDIM_LLVM_STDCXX})
    set(INDIM_LLVM_LINKED -L${llvm_libdir} ${llvm_archives} ${llvm_system})
    if(llvm_cross_components)
      execute_process(
        COMMAND ${INDIM_LLVM_CONFIG} --link-static --libs nativecodegen orcjit ${llvm_cross_components}
        OUTPUT_VARIABLE llvm_cross_archives
        OUTPUT_STRIP_TRAILING_WHITESPACE
      )
      separate_arguments(llvm_cross_archives)
      set(INDIM_LLVM_CROSS_LINKED ${llvm_cross_options} -L${llvm_libdir} ${llvm_cross_archives} ${llvm_system})
    endif()
  endif()
endif()

if(INDIM_HAS_LLVM)
  file(GLOB_RECURSE emit_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/emit/*.c)
  add_library(indim_emit_objects OBJECT ${emit_sources})
  set_target_properties(indim_emit_objects PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  target_compile_definitions(indim_emit_objects PRIVATE _POSIX_C_SOURCE=200809L)
  if(NOT INDIM_LLVM_LINKED STREQUAL INDIM_LLVM_LIBRARY)
    target_compile_definitions(indim_emit_objects PRIVATE INDIM_LLVM_IS_OWN)
  endif()
  target_include_directories(indim_emit_objects PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(indim_emit_objects SYSTEM PRIVATE ${llvm_include})
  target_link_libraries(indim_emit_objects PRIVATE indim_strict_float)
  indim_compile_settings(indim_emit_objects)

  # indim_add_generator(target name what-it-links...)
  function(indim_add_generator target name)
    add_library(${target} MODULE $<TARGET_OBJECTS:indim_emit_objects>)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C)
    target_link_libraries(${target} PRIVATE indim_static ${ARGN} m $<BUILD_INTERFACE:indim_instrumentation>)
    if(INDIM_GNU_LIKE AND UNIX AND NOT APPLE)
      # LLVM keeps a pointer to our handler of fatal errors, so the module stays once it is loaded.
      target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-z,nodelete)
      check_linker_flag(C -Wl,-z,pack-relative-relocs INDIM_HAS_PACKED_RELOCATIONS)
      if(INDIM_HAS_PACKED_RELOCATIONS)
        target_link_options(${target} PRIVATE -Wl,-z,pack-relative-relocs)
      endif()
      if(NOT INDIM_SANITIZE)
        target_link_options(${target} PRIVATE -Wl,--no-undefined)
      endif()
    endif()
  endfunction()
  indim_add_generator(indim_llvm indim-llvm ${INDIM_LLVM_LINKED})
  if(INDIM_LLVM_CROSS_LINKED)
    indim_add_generator(indim_llvm_cross indim-llvm-cross ${INDIM_LLVM_CROSS_LINKED})
  endif()
endif()
