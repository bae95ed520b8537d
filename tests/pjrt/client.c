// The plugin's table, its client, device and memories, errors, events and buffers.
#include "client.h"

// What it says of itself -----------------------------------------------------------------------------------------------

TEST(table) {
  CHECK_EQ_INT((int64_t)api->struct_size, (int64_t)sizeof *api);
  CHECK_EQ_INT(api->version.major, PJRT_MAJOR);
  CHECK_EQ_INT(api->version.minor, PJRT_MINOR);
  size_t seen = 0;
#define PJRT_FUNCTION(name, function, arguments) seen += api->function != NULL;
#define PJRT_MISSING(name) seen += api->missing_##name != NULL;
#include "functions.def"
  CHECK_EQ_INT((int64_t)seen, 138);
  pjrt_plugin_attributes_args args = {0};
  CHECK_OK(call_Plugin_Attributes(&args));
  REQUIRE(args.attribute_count >= 1);
  CHECK_EQ_STR(args.attributes[0].name, "stablehlo_current_version");
  CHECK_EQ_INT((int64_t)args.attributes[0].value_size, 3);
  CHECK_EQ_INT(args.attributes[0].value.integers[0], 1);
}

// Each says which it is.
TEST(missing_functions) {
  union {
    size_t size;
    char bytes[512];
  } args = {0};
#define PJRT_FUNCTION(name, function, arguments)
#define PJRT_MISSING(name) \
  CHECK_ERROR(((pjrt_error * (*)(void *)) api->missing_##name)(&args), PJRT_UNIMPLEMENTED, "PJRT_" #name);
#include "functions.def"
}

static void visit(const char *key, size_t key_size, const char *value, size_t value_size, void *user) {
  (void)key, (void)key_size, (void)value, (void)value_size;
  *(int *)user += 1;
}

TEST(errors) {
  pjrt_client *client = make_client();
  pjrt_client_lookup_args args = {.client = client, .id = 7};
  pjrt_error *error = call_Client_LookupDevice(&args);
  REQUIRE(error != NULL);
  // By the table, and by the error's own.
  pjrt_error_message_args message = {.error = error};
  pjrt_error_get_code_args code = {.error = error};
  CHECK(call_Error_Message(&message) == NULL && call_Error_GetCode(&code) == NULL);
  const pjrt_error_vtable *own = *(const pjrt_error_vtable *const *)(const void *)error;
  const char *text = NULL;
  size_t size = 0;
  own->message(error, &text, &size);
  CHECK_EQ_STR(text, message.message);
  CHECK_EQ_INT((int64_t)size, (int64_t)strlen(text));
  CHECK(strstr(text, "device 7") != NULL);
  CHECK_EQ_INT(code.code, PJRT_INVALID_ARGUMENT);
  CHECK_EQ_INT(own->get_code(error), PJRT_INVALID_ARGUMENT);
  int payloads = 0;
  pjrt_error_for_each_payload_args each = {.error = error, .visitor = visit, .user = &payloads};
  CHECK(call_Error_ForEachPayload(&each) == NULL);
  own->for_each_payload(error, visit, &payloads);
  CHECK_EQ_INT(payloads, 0);
  own->destroy(error);
  end_error(NULL);
  CHECK_ERROR(call_Client_LookupAddressableDevice(&args), PJRT_INVALID_ARGUMENT, "device 7");
  end_client(client);
}

TEST(client_options) {
  pjrt_named_value threads = {.struct_size = sizeof threads,
                              .name = "threads",
                              .name_size = 7,
                              .type = PJRT_VALUE_INT,
                              .value.integer = 3,
                              .value_size = 1};
  pjrt_client_create_args args = {.options = &threads, .option_count = 1};
  CHECK_OK(call_Client_Create(&args));
  pjrt_client_text_args version = {.client = args.client};
  CHECK_OK(call_Client_PlatformVersion(&version));
  CHECK(strstr(version.text, "3 threads") != NULL);
  end_client(args.client);
  static const int64_t wrong[] = {0, -1, 1025, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    threads.value.integer = wrong[i];
    CHECK_ERROR(call_Client_Create(&args), PJRT_INVALID_ARGUMENT, "1024");
    CHECK(args.client == NULL);
  }
  threads.type = PJRT_VALUE_STRING;
  threads.value.text = "2";
  CHECK_ERROR(call_Client_Create(&args), PJRT_INVALID_ARGUMENT, "number");
  threads.name = "thread";
  threads.name_size = 6;
  CHECK_ERROR(call_Client_Create(&args), PJRT_INVALID_ARGUMENT, "thread");
}

TEST(client_and_device) {
  pjrt_client *client = make_client();
  pjrt_client_text_args text = {.client = client};
  CHECK_OK(call_Client_PlatformName(&text));
  CHECK_EQ_STR(text.text, "cpu");
  CHECK_EQ_INT((int64_t)text.text_size, 3);
  pjrt_client_process_index_args process = {.client = client, .process_index = 9};
  CHECK_OK(call_Client_ProcessIndex(&process));
  CHECK_EQ_INT(process.process_index, 0);
  pjrt_client_devices_args devices = {.client = client};
  CHECK_OK(call_Client_Devices(&devices));
  REQUIRE(devices.device_count == 1);
  pjrt_device *device = devices.devices[0];
  CHECK_OK(call_Client_AddressableDevices(&devices));
  CHECK(devices.device_count == 1 && devices.devices[0] == device);
  pjrt_client_lookup_args lookup = {.client = client, .id = 0};
  CHECK_OK(call_Client_LookupDevice(&lookup));
  CHECK(lookup.device == device);
  pjrt_device_description_args described = {.device = device};
  CHECK_OK(call_Device_GetDescription(&described));
  pjrt_description_number_args number = {.description = described.description, .number = 9};
  CHECK_OK(call_DeviceDescription_Id(&number));
  CHECK_EQ_INT(number.number, 0);
  number.number = 9;
  CHECK_OK(call_DeviceDescription_ProcessIndex(&number));
  CHECK_EQ_INT(number.number, 0);
  pjrt_description_attributes_args attributes = {.description = described.description, .attribute_count = 9};
  CHECK_OK(call_DeviceDescription_Attributes(&attributes));
  CHECK_EQ_INT((int64_t)attributes.attribute_count, 0);
  pjrt_description_text_args about = {.description = described.description};
  CHECK_OK(call_DeviceDescription_Kind(&about));
  CHECK_EQ_STR(about.text, "cpu");
  CHECK_OK(call_DeviceDescription_DebugString(&about));
  CHECK(about.text_size == strlen(about.text));
  CHECK_OK(call_DeviceDescription_ToString(&about));
  CHECK_EQ_STR(about.text, "IndimDevice(id=0)");
  pjrt_device_addressable_args addressable = {.device = device};
  CHECK_OK(call_Device_IsAddressable(&addressable));
  CHECK(addressable.is_addressable);
  pjrt_device_hardware_id_args hardware = {.device = device, .id = 9};
  CHECK_OK(call_Device_LocalHardwareId(&hardware));
  CHECK_EQ_INT(hardware.id, 0);
  pjrt_device_attributes_args more = {.device = device, .attribute_count = 9};
  CHECK_OK(call_Device_GetAttributes(&more));
  CHECK_EQ_INT((int64_t)more.attribute_count, 0);
  REQUIRE(more.deleter != NULL);
  more.deleter(more.holder);
  int assignment[2] = {9, 9};
  pjrt_client_assignment_args assign = {
      .client = client, .replica_count = 1, .partition_count = 1, .size = 1, .assignment = assignment};
  CHECK_OK(call_Client_DefaultDeviceAssignment(&assign));
  CHECK(assignment[0] == 0 && assignment[1] == 9);
  assign.size = 0;
  CHECK_ERROR(call_Client_DefaultDeviceAssignment(&assign), PJRT_INVALID_ARGUMENT, "room");
  assign.replica_count = 2;
  CHECK_ERROR(call_Client_DefaultDeviceAssignment(&assign), PJRT_UNIMPLEMENTED, "2 replicas");
  end_client(client);
}

static int destroyed;

static void count_destroyed(void *data) { destroyed += *(int *)data; }

TEST(memories) {
  pjrt_client *client = make_client();
  pjrt_client_memories_args memories = {.client = client};
  CHECK_OK(call_Client_AddressableMemories(&memories));
  pjrt_client_devices_args devices = {.client = client};
  CHECK_OK(call_Client_Devices(&devices));
  pjrt_device_memories_args same = {.device = devices.devices[0]};
  CHECK_OK(call_Device_AddressableMemories(&same));
  CHECK(same.memories == memories.memories && same.memory_count == memories.memory_count);
  static const char *const kinds[] = {"device", "pinned_host", "unpinned_host"};
  REQUIRE(memories.memory_count == 3);
  for (size_t i = 0; i < 3; i++) {
    pjrt_memory_text_args text = {.memory = memories.memories[i]};
    CHECK_OK(call_Memory_Kind(&text));
    CHECK_EQ_STR(text.text, kinds[i]);
    CHECK_OK(call_Memory_ToString(&text));
    CHECK(strstr(text.text, kinds[i]) != NULL);
    CHECK_OK(call_Memory_DebugString(&text));
    pjrt_memory_number_args number = {.memory = memories.memories[i], .number = 9};
    CHECK_OK(call_Memory_Id(&number));
    CHECK_EQ_INT(number.number, (int)i);
    CHECK_OK(call_Memory_Kind_Id(&number));
    pjrt_memory_devices_args of = {.memory = memories.memories[i]};
    CHECK_OK(call_Memory_AddressableByDevices(&of));
    CHECK(of.device_count == 1 && of.devices[0] == devices.devices[0]);
  }
  pjrt_device_default_memory_args first = {.device = devices.devices[0]};
  CHECK_OK(call_Device_DefaultMemory(&first));
  CHECK(first.memory == memories.memories[0]);
  // The client's own data on it.
  const pjrt_memory_vtable *own = *(const pjrt_memory_vtable *const *)(const void *)first.memory;
  static int keys[2], one = 1, ten = 10;
  CHECK(own->get_user_data(first.memory, &keys[0]) == NULL);
  own->set_user_data(first.memory, &keys[0], &one, count_destroyed);
  own->set_user_data(first.memory, &keys[1], &ten, count_destroyed);
  CHECK(own->get_user_data(first.memory, &keys[0]) == &one);
  CHECK(own->get_user_data(first.memory, &keys[1]) == &ten);
  CHECK(own->get_user_data(memories.memories[1], &keys[0]) == NULL);
  own->set_user_data(first.memory, &keys[0], &ten, count_destroyed);
  CHECK_EQ_INT(destroyed, 1);
  end_client(client);
  CHECK_EQ_INT(destroyed, 21);
}

TEST(memory_stats) {
  pjrt_client *client = make_client();
  pjrt_client_devices_args devices = {.client = client};
  CHECK_OK(call_Client_Devices(&devices));
  pjrt_device_memory_stats_args stats = {.device = devices.devices[0]};
  CHECK_OK(call_Device_MemoryStats(&stats));
  CHECK_EQ_INT(stats.bytes_in_use, 0);
  static float values[1 << 16];
  pjrt_buffer *x = floats(client, values, 1 << 16), *y = floats(client, values, 10);
  CHECK_OK(call_Device_MemoryStats(&stats));
  CHECK_EQ_INT(stats.bytes_in_use, (1 << 18) + 40);
  CHECK(stats.largest_alloc.is_set && stats.largest_alloc.value == 1 << 18);
  CHECK(stats.alloc_count.is_set && stats.alloc_count.value == 2);
  end_buffer(x);
  CHECK_OK(call_Device_MemoryStats(&stats));
  CHECK_EQ_INT(stats.bytes_in_use, 40);
  CHECK(stats.peak_bytes_in_use.is_set && stats.peak_bytes_in_use.value == (1 << 18) + 40);
  pjrt_device_clear_stats_args clear = {.device = devices.devices[0]};
  CHECK_OK(call_Device_ClearMemoryStats(&clear));
  CHECK_OK(call_Device_MemoryStats(&stats));
  CHECK_EQ_INT(stats.peak_bytes_in_use.value, 40);
  end_buffer(y);
  end_client(client);
}

// What is kept of arrays of one size makes room for those of the next.
TEST(kept_sizes) {
  pjrt_client *client = make_client();
  pjrt_client_devices_args devices = {.client = client};
  CHECK_OK(call_Client_Devices(&devices));
  static float values[1 << 16];
  end_buffer(floats(client, values, 1 << 16));
  pjrt_device_memory_stats_args stats = {.device = devices.devices[0]};
  CHECK_OK(call_Device_MemoryStats(&stats));
  CHECK_EQ_INT(stats.pool_bytes.value, 1 << 18);
  end_buffer(floats(client, values, 5 << 13));
  CHECK_OK(call_Device_MemoryStats(&stats));
  CHECK_EQ_INT(stats.pool_bytes.value, 5 << 15);
  end_client(client);
}

// Events ---------------------------------------------------------------------------------------------------------------

typedef struct call {
  int count;
  pjrt_error *error;
  pjrt_event *event;  // ended by the call
} call;

static void on_ready(pjrt_error *error, void *user) {
  call *c = user;
  c->count++;
  c->error = error;
  if (c->event != NULL) {
    end_event(c->event);
  }
}

TEST(events) {
  pjrt_event_create_args made = {0};
  CHECK_OK(call_Event_Create(&made));
  CHECK(!is_ready(made.event));
  call early = {0}, late = {0};
  pjrt_event_on_ready_args ask = {.event = made.event, .callback = on_ready, .user = &early};
  CHECK_OK(call_Event_OnReady(&ask));
  CHECK_EQ_INT(early.count, 0);
  pjrt_event_set_args set = {.event = made.event};
  CHECK_OK(call_Event_Set(&set));
  CHECK(is_ready(made.event));
  CHECK(early.count == 1 && early.error == NULL);
  ask.user = &late;
  CHECK_OK(call_Event_OnReady(&ask));
  CHECK(late.count == 1 && late.error == NULL);
  CHECK_ERROR(call_Event_Set(&set), PJRT_FAILED_PRECONDITION, "set");
  CHECK_OK(await(made.event));
  end_event(made.event);
}

TEST(events_that_fail) {
  pjrt_event_create_args made = {0};
  CHECK_OK(call_Event_Create(&made));
  call early = {0};
  pjrt_event_on_ready_args ask = {.event = made.event, .callback = on_ready, .user = &early};
  CHECK_OK(call_Event_OnReady(&ask));
  pjrt_event_set_args set = {
      .event = made.event, .code = PJRT_OUT_OF_RANGE, .message = "too farther", .message_size = 7};
  CHECK_OK(call_Event_Set(&set));
  CHECK_ERROR(early.error, PJRT_OUT_OF_RANGE, "too far");
  pjrt_event_args args = {.event = made.event};
  CHECK_ERROR(call_Event_Error(&args), PJRT_OUT_OF_RANGE, "too far");
  CHECK_ERROR(await(made.event), PJRT_OUT_OF_RANGE, "too far");
  end_event(made.event);
  // One that nobody sets, and one that ends in its own callback.
  CHECK_OK(call_Event_Create(&made));
  ask.event = made.event;
  CHECK_OK(call_Event_OnReady(&ask));
  end_event(made.event);
  CHECK_EQ_INT(early.count, 1);
  CHECK_OK(call_Event_Create(&made));
  call last = {.event = made.event};
  ask = (pjrt_event_on_ready_args){.event = made.event, .callback = on_ready, .user = &last};
  CHECK_OK(call_Event_OnReady(&ask));
  set = (pjrt_event_set_args){.event = made.event};
  CHECK_OK(call_Event_Set(&set));
  CHECK_EQ_INT(last.count, 1);
}

// Buffers --------------------------------------------------------------------------------------------------------------

TEST(buffers_from_host) {
  pjrt_client *client = make_client();
  static const float values[6] = {1, 2, 3, 4, 5, 6};
  static const struct {
    size_t rank;
    int64_t dims[3], strides[3];
    size_t first, count;
    float expected[9];
  } cases[] = {
      {2, {2, 3}, {12, 4}, 0, 6, {1, 2, 3, 4, 5, 6}},
      {2, {3, 2}, {4, 12}, 0, 6, {1, 4, 2, 5, 3, 6}},
      {1, {6}, {-4}, 5, 6, {6, 5, 4, 3, 2, 1}},
      {2, {2, 3}, {-12, -4}, 5, 6, {6, 5, 4, 3, 2, 1}},
      {2, {3, 2}, {0, 4}, 0, 6, {1, 2, 1, 2, 1, 2}},
      {1, {3}, {8}, 1, 3, {2, 4, 6}},
      {3, {1, 2, 1}, {400, 12, -400}, 2, 2, {3, 6}},
      {3, {3, 1, 3}, {0, 0, 0}, 3, 9, {4, 4, 4, 4, 4, 4, 4, 4, 4}},
      {0, {0}, {0}, 4, 1, {5}},
      {2, {0, 3}, {12, 4}, 0, 0, {0}},
      {3, {2, 0, 3}, {-1, -1, -1}, 0, 0, {0}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int semantics = PJRT_HOST_DURING_CALL; semantics <= PJRT_HOST_MUTABLE_ZERO_COPY; semantics++) {
      pjrt_buffer_from_host_args args = {.client = client,
                                         .data = values + cases[i].first,
                                         .type = PJRT_TYPE_F32,
                                         .dims = cases[i].dims,
                                         .rank = cases[i].rank,
                                         .byte_strides = cases[i].rank == 0 ? NULL : cases[i].strides,
                                         .byte_stride_count = cases[i].rank,
                                         .semantics = semantics};
      CHECK_OK(call_Client_BufferFromHostBuffer(&args));
      pjrt_buffer_size_args size = {.buffer = args.buffer};
      CHECK_OK(call_Buffer_OnDeviceSizeInBytes(&size));
      CHECK_EQ_INT((int64_t)size.bytes, (int64_t)(4 * cases[i].count));
      float out[9] = {0};
      CHECK_OK(to_host(args.buffer, out, sizeof out));
      CHECK_MSG(memcmp(out, cases[i].expected, 4 * cases[i].count) == 0, "case %zu: %g, %g, ...", i, (double)out[0],
                (double)out[1]);
      end_buffer(args.buffer);
      CHECK_OK(await(args.done));
      end_event(args.done);
    }
  }
  end_client(client);
}

TEST(buffers_refused) {
  pjrt_client *client = make_client();
  pjrt_buffer *b = NULL;
  int64_t two[] = {2}, negative[] = {3, -1}, large[] = {INT64_MAX, 4}, larger[] = {1 << 20, 1 << 20, 1 << 20},
          many[65] = {0}, none[] = {INT64_MAX, INT64_MAX, 0};
  static const int32_t types[] = {0, -1, 32, 1000, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    CHECK_ERROR(from_host(client, types[i], 1, two, "12345678", &b), PJRT_INVALID_ARGUMENT, "element type");
    CHECK(b == NULL);
  }
  CHECK_ERROR(from_host(client, PJRT_TYPE_F32, 2, negative, NULL, &b), PJRT_INVALID_ARGUMENT, "-1");
  CHECK_ERROR(from_host(client, PJRT_TYPE_F32, 2, large, NULL, &b), PJRT_RESOURCE_EXHAUSTED, "2^63");
  CHECK_ERROR(from_host(client, PJRT_TYPE_F64, 3, larger, NULL, &b), PJRT_RESOURCE_EXHAUSTED, NULL);
  CHECK_ERROR(from_host(client, PJRT_TYPE_F32, 65, many, NULL, &b), PJRT_UNIMPLEMENTED, "65");
  CHECK_ERROR(from_host(client, PJRT_TYPE_TOKEN, 65, many, NULL, &b), PJRT_UNIMPLEMENTED, "65");
  CHECK_OK(from_host(client, PJRT_TYPE_F32, 3, none, NULL, &b));
  end_buffer(b);
  pjrt_buffer_from_host_args strides = {.client = client,
                                        .data = "12345678",
                                        .type = PJRT_TYPE_F32,
                                        .dims = two,
                                        .rank = 1,
                                        .byte_strides = two,
                                        .byte_stride_count = 2};
  CHECK_ERROR(call_Client_BufferFromHostBuffer(&strides), PJRT_INVALID_ARGUMENT, "2 strides");
  // Layouts: an order of the dimensions.
  int64_t dims[] = {2, 3}, rows[] = {1, 0}, wrong[] = {0, 0};
  pjrt_layout layout = {.struct_size = sizeof layout, .type = PJRT_LAYOUT_TILED};
  layout.of.tiled.minor_to_major = rows;
  layout.of.tiled.minor_to_major_size = 2;
  pjrt_buffer_uninitialized_args plain = {
      .client = client, .dims = dims, .rank = 2, .type = PJRT_TYPE_F32, .layout = &layout};
  CHECK_OK(call_Client_CreateUninitializedBuffer(&plain));
  end_buffer(plain.buffer);
  layout.of.tiled.minor_to_major = wrong;
  CHECK_ERROR(call_Client_CreateUninitializedBuffer(&plain), PJRT_INVALID_ARGUMENT, "no order of 2 dimensions");
  layout.of.tiled.minor_to_major_size = 1;
  CHECK_ERROR(call_Client_CreateUninitializedBuffer(&plain), PJRT_INVALID_ARGUMENT, "rank 1 for an array of rank 2");
  layout.of.tiled.num_tiles = 1;
  CHECK_ERROR(call_Client_CreateUninitializedBuffer(&plain), PJRT_UNIMPLEMENTED, "tiles");
  layout.type = PJRT_LAYOUT_STRIDES;
  CHECK_ERROR(call_Client_CreateUninitializedBuffer(&plain), PJRT_UNIMPLEMENTED, "layout");
  plain.type = 99;
  CHECK_ERROR(call_Client_CreateUninitializedBuffer(&plain), PJRT_INVALID_ARGUMENT, "99");
  end_client(client);
}

TEST(buffers_answer) {
  pjrt_client *client = make_client();
  pjrt_client_memories_args memories = {.client = client};
  CHECK_OK(call_Client_AddressableMemories(&memories));
  int64_t dims[] = {2, 3};
  static const int32_t values[6] = {1, 2, 3, 4, 5, 6};
  pjrt_buffer_from_host_args args = {
      .client = client, .data = values, .type = PJRT_TYPE_S32, .dims = dims, .rank = 2, .memory = memories.memories[1]};
  CHECK_OK(call_Client_BufferFromHostBuffer(&args));
  end_event(args.done);
  pjrt_buffer *b = args.buffer;
  pjrt_buffer_type_args type = {.buffer = b};
  CHECK_OK(call_Buffer_ElementType(&type));
  CHECK_EQ_INT(type.type, PJRT_TYPE_S32);
  pjrt_buffer_dims_args shape = {.buffer = b};
  CHECK_OK(call_Buffer_Dimensions(&shape));
  CHECK(shape.rank == 2 && shape.dims[0] == 2 && shape.dims[1] == 3);
  CHECK_OK(call_Buffer_UnpaddedDimensions(&shape));
  CHECK(shape.rank == 2 && shape.dims[0] == 2 && shape.dims[1] == 3);
  pjrt_buffer_dynamic_dims_args dynamic = {.buffer = b, .count = 9};
  CHECK_OK(call_Buffer_DynamicDimensionIndices(&dynamic));
  CHECK_EQ_INT((int64_t)dynamic.count, 0);
  pjrt_buffer_layout_args layout = {.buffer = b};
  CHECK_OK(call_Buffer_GetMemoryLayout(&layout));
  CHECK(layout.layout.type == PJRT_LAYOUT_TILED && layout.layout.of.tiled.minor_to_major_size == 2 &&
        layout.layout.of.tiled.minor_to_major[0] == 1 && layout.layout.of.tiled.minor_to_major[1] == 0);
  pjrt_buffer_device_args device = {.buffer = b};
  CHECK_OK(call_Buffer_Device(&device));
  CHECK(device.device != NULL);
  pjrt_buffer_memory_args memory = {.buffer = b};
  CHECK_OK(call_Buffer_Memory(&memory));
  CHECK(memory.memory == memories.memories[1]);
  pjrt_buffer_bool_args on_cpu = {.buffer = b};
  CHECK_OK(call_Buffer_IsOnCpu(&on_cpu));
  CHECK(on_cpu.answer);
  pjrt_buffer_ready_args ready = {.buffer = b};
  CHECK_OK(call_Buffer_ReadyEvent(&ready));
  CHECK(is_ready(ready.event));
  end_event(ready.event);
  // Copies out: the size, then all, in columns, in part.
  pjrt_buffer_to_host_args out = {.buffer = b};
  CHECK_OK(call_Buffer_ToHostBuffer(&out));
  CHECK_EQ_INT((int64_t)out.size, 24);
  int32_t there[6] = {0};
  CHECK_ERROR(to_host(b, there, 23), PJRT_INVALID_ARGUMENT, "24");
  int64_t columns[] = {0, 1}, wrong[] = {1, 1}, outside[] = {0, 2};
  pjrt_layout order = {.struct_size = sizeof order, .type = PJRT_LAYOUT_TILED};
  order.of.tiled.minor_to_major = columns;
  order.of.tiled.minor_to_major_size = 2;
  out = (pjrt_buffer_to_host_args){.buffer = b, .layout = &order, .data = there, .size = 24};
  CHECK_OK(call_Buffer_ToHostBuffer(&out));
  end_event(out.event);
  static const int32_t transposed[6] = {1, 4, 2, 5, 3, 6};
  CHECK(memcmp(there, transposed, 24) == 0);
  order.of.tiled.minor_to_major = wrong;
  CHECK_ERROR(call_Buffer_ToHostBuffer(&out), PJRT_INVALID_ARGUMENT, "order");
  order.of.tiled.minor_to_major = outside;
  CHECK_ERROR(call_Buffer_ToHostBuffer(&out), PJRT_INVALID_ARGUMENT, "order");
  order.of.tiled.minor_to_major_size = 1;
  CHECK_ERROR(call_Buffer_ToHostBuffer(&out), PJRT_INVALID_ARGUMENT, "rank");
  pjrt_buffer_raw_to_host_args raw = {.buffer = b, .data = there, .offset = 20, .size = 4};
  CHECK_OK(call_Buffer_CopyRawToHost(&raw));
  end_event(raw.event);
  CHECK_EQ_INT(there[0], 6);
  static const int64_t ranges[][2] = {{20, 5}, {-1, 4}, {0, -1}, {25, 0}, {INT64_MAX, INT64_MAX}, {0, INT64_MAX}};
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
    raw = (pjrt_buffer_raw_to_host_args){.buffer = b, .data = there, .offset = ranges[i][0], .size = ranges[i][1]};
    CHECK_ERROR(call_Buffer_CopyRawToHost(&raw), PJRT_INVALID_ARGUMENT, "24");
  }
  end_buffer(b);
  end_client(client);
}

static const pjrt_layouts_extension *layouts(void) {
  const pjrt_extension *extension = api->extensions;
  while (extension != NULL && extension->type != PJRT_EXTENSION_LAYOUTS) {
    extension = extension->next;
  }
  return (const pjrt_layouts_extension *)(const void *)extension;
}

static void check_layout(pjrt_memory_layout *layout, const char *expected) {
  pjrt_layout_serialize_args args = {.struct_size = sizeof args, .layout = layout};
  CHECK_OK(layouts()->serialize(&args));
  CHECK_MSG(args.size == strlen(expected) && memcmp(args.bytes, expected, args.size) == 0, "%.*s, expected %s",
            (int)args.size, args.bytes, expected);
  args.deleter(args.holder);
}

// A buffer whose first dimension is the minor one, from rows and from columns, to both, and into a program that wants it so.
TEST(buffers_in_columns) {
  pjrt_client *client = make_client();
  REQUIRE(layouts() != NULL);
  static const int64_t dims[] = {2, 3}, columns[] = {0, 1}, by_columns[] = {4, 8};
  static const float row_values[] = {1, 2, 3, 4, 5, 6}, column_values[] = {1, 4, 2, 5, 3, 6};
  pjrt_layout order = {.struct_size = sizeof order, .type = PJRT_LAYOUT_TILED};
  order.of.tiled.minor_to_major = columns;
  order.of.tiled.minor_to_major_size = 2;
  pjrt_loaded *loaded = compile(client, "HloModule m, entry_computation_layout={(f32[2,3]{0,1})->f32[2,3]{1,0:S(5)}}\n"
                                        "ENTRY e { x = f32[2,3] parameter(0)\n ROOT y = f32[2,3] add(x, x) }\n");
  pjrt_loaded *plain = compile(client, "HloModule plain\nENTRY e { x = f32[2,3] parameter(0)\n ROOT y = f32[2,3] "
                                       "add(x, x) }\n");
  REQUIRE(loaded != NULL && plain != NULL);
  for (int i = 0; i < 2; i++) {
    pjrt_buffer_from_host_args args = {.client = client,
                                       .data = i == 0 ? row_values : column_values,
                                       .type = PJRT_TYPE_F32,
                                       .dims = dims,
                                       .rank = 2,
                                       .byte_strides = i == 0 ? NULL : by_columns,
                                       .byte_stride_count = 2,
                                       .layout = &order};
    CHECK_OK(call_Client_BufferFromHostBuffer(&args));
    end_event(args.done);
    CHECK(memcmp(pointer_of(args.buffer), column_values, sizeof column_values) == 0);
    CHECK_FLOATS(args.buffer, 1, 2, 3, 4, 5, 6);
    float out[6];
    pjrt_buffer_to_host_args to = {.buffer = args.buffer, .layout = &order, .data = out, .size = sizeof out};
    CHECK_OK(call_Buffer_ToHostBuffer(&to));
    end_event(to.event);
    CHECK(memcmp(out, column_values, sizeof out) == 0);
    pjrt_buffer_layout_args asked = {.buffer = args.buffer};
    CHECK_OK(call_Buffer_GetMemoryLayout(&asked));
    CHECK(asked.layout.of.tiled.minor_to_major[0] == 0 && asked.layout.of.tiled.minor_to_major[1] == 1);
    pjrt_layout_of_buffer_args of = {.struct_size = sizeof of, .buffer = args.buffer};
    CHECK_OK(layouts()->of_buffer(&of));
    check_layout(of.layout, "{0,1}");
    pjrt_layout_destroy_args end = {.struct_size = sizeof end, .layout = of.layout};
    CHECK_OK(layouts()->destroy(&end));
    pjrt_buffer *y = NULL;
    CHECK_OK(execute(loaded, 1, &args.buffer, &y));
    CHECK_FLOATS(y, 2, 4, 6, 8, 10, 12);
    pjrt_buffer_memory_args memory = {.buffer = y};
    CHECK_OK(call_Buffer_Memory(&memory));
    pjrt_memory_text_args kind = {.memory = memory.memory};
    CHECK_OK(call_Memory_Kind(&kind));
    CHECK_EQ_STR(kind.text, "pinned_host");
    end_buffer(y);
    CHECK_ERROR(execute(plain, 1, &args.buffer, &y), PJRT_INVALID_ARGUMENT,
                "argument 0 of plain is f32[2,3]{0,1}, not f32[2,3]");
    end_buffer(args.buffer);
  }
  pjrt_executable *executable = executable_of(loaded);
  pjrt_layout_list_args list = {.struct_size = sizeof list, .executable = executable};
  CHECK_OK(layouts()->of_parameters(&list));
  REQUIRE(list.count == 1);
  check_layout(list.layouts[0], "{0,1}");
  CHECK_OK(layouts()->of_outputs(&list));
  REQUIRE(list.count == 1);
  check_layout(list.layouts[0], "{1,0}");
  end_executable(executable);
  pjrt_layout_default_args first = {
      .struct_size = sizeof first, .client = client, .type = PJRT_TYPE_F32, .dims = dims, .rank = 2};
  CHECK_OK(layouts()->default_of_client(&first));
  check_layout(first.layout, "{1,0}");
  pjrt_layout_destroy_args end = {.struct_size = sizeof end, .layout = first.layout};
  CHECK_OK(layouts()->destroy(&end));
  first.type = 99;
  CHECK_ERROR(layouts()->default_of_client(&first), PJRT_INVALID_ARGUMENT, "99");
  end_loaded(plain);
  end_loaded(loaded);
  end_client(client);
}

TEST(deleted_buffers) {
  pjrt_client *client = make_client();
  static const float two[2] = {1, 2};
  pjrt_buffer *b = floats(client, two, 2);
  pjrt_buffer_args args = {.buffer = b};
  CHECK(!is_deleted(b));
  CHECK_OK(call_Buffer_Delete(&args));
  CHECK_OK(call_Buffer_Delete(&args));
  CHECK(is_deleted(b));
  float out[2];
  CHECK_ERROR(to_host(b, out, sizeof out), PJRT_INVALID_ARGUMENT, "deleted");
  CHECK_ERROR(to_host(b, NULL, 0), PJRT_INVALID_ARGUMENT, "deleted");
  CHECK_ERROR(call_Buffer_IncreaseExternalReferenceCount(&args), PJRT_INVALID_ARGUMENT, "deleted");
  CHECK_ERROR(call_Buffer_DecreaseExternalReferenceCount(&args), PJRT_INVALID_ARGUMENT, "no external");
  pjrt_buffer_pointer_args pointer = {.buffer = b};
  CHECK_ERROR(call_Buffer_UnsafePointer(&pointer), PJRT_INVALID_ARGUMENT, "deleted");
  CHECK_ERROR(call_Buffer_OpaqueDeviceMemoryDataPointer(&pointer), PJRT_INVALID_ARGUMENT, "deleted");
  pjrt_buffer_raw_to_host_args raw = {.buffer = b, .data = out, .size = 8};
  CHECK_ERROR(call_Buffer_CopyRawToHost(&raw), PJRT_INVALID_ARGUMENT, "deleted");
  pjrt_buffer_copy_to_device_args copy = {.buffer = b};
  CHECK_ERROR(call_Buffer_CopyToDevice(&copy), PJRT_INVALID_ARGUMENT, "deleted");
  int64_t dims[] = {2};
  pjrt_buffer_bitcast_args cast = {.buffer = b, .type = PJRT_TYPE_S32, .dims = dims, .rank = 1};
  CHECK_ERROR(call_Buffer_Bitcast(&cast), PJRT_INVALID_ARGUMENT, "deleted");
  // Questions about its shape still have their answers.
  pjrt_buffer_dims_args shape = {.buffer = b};
  CHECK_OK(call_Buffer_Dimensions(&shape));
  CHECK(shape.rank == 1 && shape.dims[0] == 2);
  end_buffer(b);
  end_client(client);
}

TEST(zero_copy) {
  pjrt_client *client = make_client();
  float *values = aligned_alloc(64, 128);
  REQUIRE(values != NULL);
  for (int i = 0; i < 32; i++) {
    values[i] = (float)i;
  }
  for (size_t first = 0; first < 2; first++) {
    int64_t dims[] = {4};
    pjrt_buffer_from_host_args args = {.client = client,
                                       .data = values + first,
                                       .type = PJRT_TYPE_F32,
                                       .dims = dims,
                                       .rank = 1,
                                       .semantics = PJRT_HOST_ZERO_COPY};
    CHECK_OK(call_Client_BufferFromHostBuffer(&args));
    CHECK((pointer_of(args.buffer) == values + first) == (first == 0));
    CHECK(is_ready(args.done) == (first != 0));
    call done = {0};
    pjrt_event_on_ready_args ask = {.event = args.done, .callback = on_ready, .user = &done};
    CHECK_OK(call_Event_OnReady(&ask));
    // A view keeps the memory, also when the buffer was deleted.
    pjrt_buffer_args view = {.buffer = args.buffer};
    CHECK_OK(call_Buffer_IncreaseExternalReferenceCount(&view));
    CHECK_OK(call_Buffer_Delete(&view));
    CHECK_EQ_INT(done.count, (int)first);
    CHECK_OK(call_Buffer_DecreaseExternalReferenceCount(&view));
    CHECK_EQ_INT(done.count, 1);
    CHECK(is_ready(args.done));
    end_buffer(args.buffer);
    end_event(args.done);
  }
  free(values);
  end_client(client);
}

static void on_delete(void *data, void *user) {
  *(float *)data = -1;
  *(int *)user += 1;
}

TEST(views) {
  pjrt_client *client = make_client();
  static float values[3];
  values[0] = 1;
  int deletions = 0;
  int64_t dims[] = {2}, none[] = {0, 5};
  pjrt_buffer_view_args args = {.client = client,
                                .data = values + 1,
                                .dims = dims,
                                .rank = 1,
                                .type = PJRT_TYPE_F32,
                                .on_delete = on_delete,
                                .on_delete_user = &deletions};
  values[1] = 5;
  CHECK_OK(call_Client_CreateViewOfDeviceBuffer(&args));
  CHECK(pointer_of(args.buffer) == values + 1);
  values[2] = 7;
  CHECK_FLOATS(args.buffer, 5, 7);
  pjrt_buffer_copy_to_device_args copy = {.buffer = args.buffer};
  CHECK_OK(call_Buffer_CopyToDevice(&copy));
  end_buffer(args.buffer);
  CHECK_EQ_INT(deletions, 0);
  CHECK_FLOATS(copy.copy, 5, 7);
  end_buffer(copy.copy);
  CHECK_EQ_INT(deletions, 1);
  CHECK(values[1] == -1);
  // A refused one is not deleted: it is still its owner's.
  args.type = 99;
  CHECK_ERROR(call_Client_CreateViewOfDeviceBuffer(&args), PJRT_INVALID_ARGUMENT, "99");
  CHECK_EQ_INT(deletions, 1);
  args = (pjrt_buffer_view_args){.client = client, .dims = none, .rank = 2, .type = PJRT_TYPE_F32};
  CHECK_OK(call_Client_CreateViewOfDeviceBuffer(&args));
  CHECK_OK(to_host(args.buffer, values, sizeof values));
  end_buffer(args.buffer);
  end_client(client);
}

TEST(bitcasts_and_copies) {
  pjrt_client *client = make_client();
  pjrt_client_memories_args memories = {.client = client};
  CHECK_OK(call_Client_AddressableMemories(&memories));
  static const float values[4] = {1, -2, 3, 4};
  pjrt_buffer *b = floats(client, values, 4);
  int64_t square[] = {2, 2}, two[] = {2}, three[] = {3};
  pjrt_buffer_bitcast_args cast = {.buffer = b, .type = PJRT_TYPE_U32, .dims = square, .rank = 2};
  CHECK_OK(call_Buffer_Bitcast(&cast));
  uint32_t bits[4] = {0};
  CHECK_OK(to_host(cast.out_buffer, bits, sizeof bits));
  CHECK_EQ_UINT(bits[1], 0xC0000000);
  end_buffer(cast.out_buffer);
  cast = (pjrt_buffer_bitcast_args){.buffer = b, .type = PJRT_TYPE_C64, .dims = two, .rank = 1};
  CHECK_OK(call_Buffer_Bitcast(&cast));
  end_buffer(cast.out_buffer);
  cast = (pjrt_buffer_bitcast_args){.buffer = b, .type = PJRT_TYPE_F32, .dims = three, .rank = 1};
  CHECK_ERROR(call_Buffer_Bitcast(&cast), PJRT_INVALID_ARGUMENT, "16 bytes cannot be taken as one of 12");
  cast = (pjrt_buffer_bitcast_args){.buffer = b, .type = PJRT_TYPE_TOKEN, .rank = 0};
  CHECK_ERROR(call_Buffer_Bitcast(&cast), PJRT_INVALID_ARGUMENT, "token");
  pjrt_buffer_copy_to_memory_args copy = {.buffer = b, .memory = memories.memories[2]};
  CHECK_OK(call_Buffer_CopyToMemory(&copy));
  pjrt_buffer_memory_args memory = {.buffer = copy.copy};
  CHECK_OK(call_Buffer_Memory(&memory));
  CHECK(memory.memory == memories.memories[2]);
  end_buffer(b);
  CHECK_FLOATS(copy.copy, 1, -2, 3, 4);
  end_buffer(copy.copy);
  end_client(client);
}

TEST(error_buffers) {
  pjrt_client *client = make_client();
  int64_t dims[] = {2};
  pjrt_buffer_error_args args = {.client = client,
                                 .code = PJRT_OUT_OF_RANGE,
                                 .message = "no such thing",
                                 .message_size = 7,
                                 .dims = dims,
                                 .rank = 1,
                                 .type = PJRT_TYPE_F32};
  CHECK_OK(call_Client_CreateErrorBuffer(&args));
  pjrt_buffer *bad = args.buffer;
  pjrt_buffer_ready_args ready = {.buffer = bad};
  CHECK_OK(call_Buffer_ReadyEvent(&ready));
  CHECK(is_ready(ready.event));
  CHECK_ERROR(await(ready.event), PJRT_OUT_OF_RANGE, "no such");
  end_event(ready.event);
  float out[2];
  CHECK_ERROR(to_host(bad, out, sizeof out), PJRT_OUT_OF_RANGE, "no such");
  pjrt_buffer_pointer_args pointer = {.buffer = bad};
  CHECK_ERROR(call_Buffer_UnsafePointer(&pointer), PJRT_OUT_OF_RANGE, "no such");
  pjrt_buffer_args view = {.buffer = bad};
  CHECK_ERROR(call_Buffer_IncreaseExternalReferenceCount(&view), PJRT_OUT_OF_RANGE, "no such");
  pjrt_buffer_copy_to_device_args copy = {.buffer = bad};
  CHECK_OK(call_Buffer_CopyToDevice(&copy));
  CHECK_ERROR(to_host(copy.copy, out, sizeof out), PJRT_OUT_OF_RANGE, "no such");
  // What is computed from it fails with its error.
  pjrt_loaded *add = compile(client, add_text);
  pjrt_buffer *outputs[1] = {NULL};
  pjrt_buffer *const arguments[] = {bad, copy.copy};
  CHECK_ERROR(execute(add, 2, arguments, outputs), PJRT_OUT_OF_RANGE, "no such");
  CHECK(outputs[0] == NULL);
  end_loaded(add);
  end_buffer(copy.copy);
  end_buffer(bad);
  end_client(client);
}

#define CASES(X)         \
  X(table)               \
  X(missing_functions)   \
  X(errors)              \
  X(client_options)      \
  X(client_and_device)   \
  X(memories)            \
  X(memory_stats)        \
  X(kept_sizes)          \
  X(events)              \
  X(events_that_fail)    \
  X(buffers_from_host)   \
  X(buffers_refused)     \
  X(buffers_answer)      \
  X(buffers_in_columns)  \
  X(deleted_buffers)     \
  X(zero_copy)           \
  X(views)               \
  X(bitcasts_and_copies) \
  X(error_buffers)

static const test_entry entries[] = {CASES(TEST_ENTRY)};

int main(int argc, char **argv) {
  load_plugin();
  return test_main(entries, sizeof entries / sizeof entries[0], argc, argv);
}
