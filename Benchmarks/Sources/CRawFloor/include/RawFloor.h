// SPDX-License-Identifier: Apache-2.0
//
// The raw floor: SQLite's C interface and BoringSSL's functions, with every context on the stack
// and no Swift between them. It works on the floor's database.

#ifndef RAW_FLOOR_H
#define RAW_FLOOR_H

#include <stddef.h>
#include <stdint.h>

typedef struct raw_floor raw_floor;

/// Opens the floor's database at `path`. Each key has 32 bytes. NULL if SQLite reports an error.
raw_floor *raw_floor_open(
    const char *path, const uint8_t *index_key, const uint8_t *secret_key, const uint8_t *metadata_key);
void raw_floor_close(raw_floor *floor);

/// Finds the item, opens both halves, and copies the content of the secret half to `secret`, at
/// most `room` bytes. `service` may be NULL. The number of bytes, or -1.
int raw_floor_secret(raw_floor *floor, const char *account, const char *service, uint8_t *secret, size_t room);

/// The same for the metadata half; only this half is opened.
int raw_floor_metadata(raw_floor *floor, const char *account, const char *service, uint8_t *metadata, size_t room);

/// Opens both halves of all items of a service. Their number, or -1.
int raw_floor_service(raw_floor *floor, const char *service);

/// Adds an item, durable when the function returns: five tokens, two new keys, two seals, one row.
/// `metadata` and `secret` are padded already. 0, or -1.
int raw_floor_add(
    raw_floor *floor, const char *account, const char *service, const char *label, const uint8_t *metadata,
    size_t metadata_length, const uint8_t *secret, size_t secret_length);

/// Finds the item, opens its metadata half, and deletes the row. 0, or -1.
int raw_floor_delete(raw_floor *floor, const char *account, const char *service);

#endif
