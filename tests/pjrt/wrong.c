// Wrong input: bytes that are no programs, programs with bytes changed, options and caches that are none. Each time there is an
// error or a program, the same in every run of the test, and a sanitizer has nothing to say.
#include <dirent.h>

#include "client.h"

static uint64_t state;

static uint32_t random_below(uint32_t limit) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((state >> 33) % limit);
}

static int compiled, refused;

static void end_either(pjrt_error *error, pjrt_loaded *loaded) {
  CHECK((error == NULL) == (loaded != NULL));
  *(error == NULL ? &compiled : &refused) += 1;
  if (error != NULL) {
    pjrt_error_message_args args = {.error = error};
    call_Error_Message(&args);
    CHECK(args.message_size > 0 && strlen(args.message) == args.message_size);
  }
  end_error(error);
  end_loaded(loaded);
}

// Changes a few bytes, or cuts the end off, or repeats or leaves out a piece. |bytes| has room for twice as many.
static size_t change(char *bytes, size_t size) {
  size_t at = random_below((uint32_t)size), count = 1 + random_below(8);
  count = count > size - at ? size - at : count;
  switch (random_below(8)) {
  case 0:
    return at;
  case 1:
    memmove(bytes + at, bytes + at + count, size - at - count);
    return size - count;
  case 2:
    memmove(bytes + at + count, bytes + at, size - at);
    return size + count;
  case 3:
    bytes[at] = (char)0xFF;
    return size;
  case 4:
    bytes[at] = 0;
    return size;
  default:
    bytes[at] = (char)(bytes[at] ^ 1 << random_below(8));
    return size;
  }
}

static size_t read_bytes(const char *path, char *bytes, size_t room) {
  FILE *file = fopen(path, "rb");
  size_t size = file == NULL ? 0 : fread(bytes, 1, room, file);
  if (file != NULL) {
    fclose(file);
  }
  return size;
}

enum { ROOM = 1 << 16 };

static void change_program(pjrt_client *client, const char *path, int times) {
  static char original[ROOM], changed[2 * ROOM];
  size_t size = read_bytes(path, original, ROOM);
  CHECK_MSG(size > 0, "%s is not there", path);
  for (int i = 0; i < times && size > 0; i++) {
    memcpy(changed, original, size);
    size_t now = change(changed, size);
    pjrt_loaded *loaded = NULL;
    pjrt_error *error = try_compile(client, changed, now, NULL, 0, &loaded);
    end_either(error, loaded);
  }
}

TEST(programs) {
  pjrt_client *client = make_client();
  static const char *const names[] = {"bytecode/add1.bc",
                                      "bytecode/bounded.bc",
                                      "bytecode/composite.bc",
                                      "bytecode/cond.bc",
                                      "bytecode/donate.bc",
                                      "bytecode/dot.bc",
                                      "bytecode/literals.bc",
                                      "bytecode/loop.bc",
                                      "bytecode/reduce.bc",
                                      "bytecode/sort.bc",
                                      "bytecode/send_recv.bc",
                                      "bytecode/collectives.bc",
                                      "text/aliases.mlir",
                                      "text/call.mlir",
                                      "text/complex.mlir",
                                      "text/custom_call.mlir",
                                      "text/dot_general.generic.mlir"};
  state = 1;
  compiled = refused = 0;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char path[256];
    snprintf(path, sizeof path, "tests/stablehlo/%s", names[i]);
    change_program(client, path, 40);
  }
  CHECK_MSG(compiled > 20 && refused > 200, "%d compiled, %d refused", compiled, refused);
  end_client(client);
}

TEST(refused_files) {
  pjrt_client *client = make_client();
  static char bytes[ROOM];
  DIR *folder = opendir("tests/stablehlo/refused");
  REQUIRE(folder != NULL);
  refused = compiled = 0;
  for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    char path[512];
    snprintf(path, sizeof path, "tests/stablehlo/refused/%s", entry->d_name);
    size_t size = strstr(path, ".mlir") == NULL ? 0 : read_bytes(path, bytes, ROOM);
    if (size > 0) {
      pjrt_loaded *loaded = NULL;
      pjrt_error *error = try_compile(client, bytes, size, NULL, 0, &loaded);
      CHECK_MSG(error != NULL, "%s compiles", path);
      end_either(error, loaded);
    }
  }
  closedir(folder);
  CHECK(refused > 50);
  end_client(client);
}

TEST(garbage) {
  pjrt_client *client = make_client();
  static const char *const heads[] = {"",           "ML\xEFR",      "module ",
                                      "HloModule ", "\x08\x01\x12", "ML\xEFR\x0DStableHLO_v1.9.0"};
  state = 2;
  for (int i = 0; i < 600; i++) {
    char bytes[400];
    size_t size = strlen(heads[i % 6]);
    memcpy(bytes, heads[i % 6], size);
    for (size_t rest = random_below(300); rest > 0; rest--) {
      bytes[size++] = (char)random_below(i % 2 == 0 ? 256 : 8);
    }
    pjrt_loaded *loaded = NULL;
    pjrt_error *error = try_compile(client, bytes, size, NULL, 0, &loaded);
    CHECK_MSG(error != NULL, "garbage %d compiles", i);
    end_either(error, loaded);
  }
  end_client(client);
}

// Options are read before the program, which is none here.
static pjrt_error *with_options(pjrt_client *client, const char *options, size_t size) {
  char *copy = malloc(size == 0 ? 1 : size);
  if (copy == NULL) {
    abort();
  }
  memcpy(copy, options, size);
  pjrt_loaded *loaded = NULL;
  pjrt_error *error = try_compile(client, "no program", 10, copy, size, &loaded);
  free(copy);
  CHECK(loaded == NULL);
  return error;
}

TEST(options) {
  pjrt_client *client = make_client();
#define OPTIONS(text) text, sizeof text - 1
  CHECK_ERROR(with_options(client, OPTIONS("\x1A\x04\x20\x02\x28\x01")), PJRT_UNIMPLEMENTED,
              "2 replicas of 1 partitions");
  CHECK_ERROR(with_options(client, OPTIONS("\x1A\x04\x20\x01\x28\x08")), PJRT_UNIMPLEMENTED,
              "1 replicas of 8 partitions");
  CHECK_ERROR(with_options(client, OPTIONS("\x1A\x7F\x20")), PJRT_INVALID_ARGUMENT, "xla.CompileOptionsProto");
  CHECK_ERROR(with_options(client, OPTIONS("\x0B")), PJRT_INVALID_ARGUMENT, "xla.CompileOptionsProto");
  CHECK_ERROR(with_options(client, OPTIONS("\x3A\x0C\x0A\x06unheard\x12\x02\x10\x01")), PJRT_INVALID_ARGUMENT, NULL);
  CHECK_ERROR(with_options(client, OPTIONS("\x3A\x0D\x0A\x07unheard\x12\x02\x10\x01")), PJRT_INVALID_ARGUMENT,
              "No such compile option: 'unheard'");
  CHECK_ERROR(with_options(client, OPTIONS("\x3A\x19\x0A\x0Eindim_contract\x12\x07\x0A\x05maybe")),
              PJRT_INVALID_ARGUMENT, "indim_contract: 'maybe' is not a valid bool value");
  CHECK_ERROR(with_options(client, OPTIONS("\x1A\x0B\x20\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01")), PJRT_UNIMPLEMENTED,
              "-1 replicas");
  setenv("INDIM_FAST", "flush,sloppy", 1);
  CHECK_ERROR(with_options(client, OPTIONS("\x1A\x04\x20\x01\x28\x01")), PJRT_INVALID_ARGUMENT,
              "INDIM_FAST knows contract, reassociate, reciprocal and flush, not 'sloppy'");
  setenv("INDIM_FAST", "contract,flush", 1);
  static const char good[] = "\x1A\x04\x20\x01\x28\x01\x3A\x14\x0A\x0Eindim_contract\x12\x02\x10\x01"
                             "\x3A\x17\x0A\x0Dxla_something\x12\x06\x0A\x04text\x20\x01";
  pjrt_error *error = with_options(client, good, sizeof good - 1);
  pjrt_error_message_args message = {.error = error};
  REQUIRE(error != NULL);
  call_Error_Message(&message);
  CHECK_MSG(strstr(message.message, "ption") == NULL, "good options: %s", message.message);
  end_error(error);
  unsetenv("INDIM_FAST");
  state = 3;
  for (int i = 0; i < 5000; i++) {
    char bytes[2 * sizeof good];
    memcpy(bytes, good, sizeof good - 1);
    size_t size = change(bytes, sizeof good - 1);
    size = size > 0 && i % 3 == 0 ? change(bytes, size) : size;
    error = with_options(client, bytes, size);
    CHECK(error != NULL);
    end_error(error);
  }
  end_client(client);
}

TEST(caches) {
  pjrt_client *client = make_client();
  pjrt_loaded *add = compile(client, add_text);
  pjrt_executable *executable = executable_of(add);
  pjrt_executable_serialize_args whole = {.executable = executable};
  CHECK_OK(call_Executable_Serialize(&whole));
  REQUIRE(whole.size > 0 && whole.size < 1000);
  state = 4;
  compiled = refused = 0;
  for (int i = 0; i < 300; i++) {
    char bytes[2000];
    memcpy(bytes, whole.bytes, whole.size);
    pjrt_deserialize_args args = {.client = client, .serialized = bytes};
    args.serialized_size = change(bytes, whole.size);
    pjrt_error *error = call_Executable_DeserializeAndLoad(&args);
    end_either(error, args.executable);
  }
  CHECK_MSG(compiled > 0 && refused > 100, "%d compiled, %d refused", compiled, refused);
  whole.deleter(whole.holder);
  end_executable(executable);
  end_loaded(add);
  end_client(client);
}

#define CASES(X)   \
  X(programs)      \
  X(refused_files) \
  X(garbage)       \
  X(options)       \
  X(caches)

static const test_entry entries[] = {CASES(TEST_ENTRY)};

int main(int argc, char **argv) {
  load_plugin();
  return test_main(entries, sizeof entries / sizeof entries[0], argc, argv);
}
