// SPDX-License-Identifier: Apache-2.0

#include "RawFloor.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

// MARK: BoringSSL, as swift-crypto links it

// swift-crypto does not export these functions. A benchmark may use them: it is built with the
// version that it is linked with, and no other package depends on it. The memory of the states is
// at least as large as BoringSSL's.
typedef struct { uint64_t memory[32]; } aes_key;       // AES_KEY: 244 bytes
typedef struct { uint64_t memory[80]; } aead_context;  // EVP_AEAD_CTX: 584 bytes
typedef struct { uint64_t memory[16]; } sha256_state;  // SHA256_CTX: 112 bytes

extern int CCryptoBoringSSL_AES_set_encrypt_key(const uint8_t *key, unsigned bits, aes_key *prepared);
extern int CCryptoBoringSSL_AES_set_decrypt_key(const uint8_t *key, unsigned bits, aes_key *prepared);
extern int CCryptoBoringSSL_AES_wrap_key(
    const aes_key *key, const uint8_t *vector, uint8_t *out, const uint8_t *in, size_t length);
extern int CCryptoBoringSSL_AES_unwrap_key(
    const aes_key *key, const uint8_t *vector, uint8_t *out, const uint8_t *in, size_t length);
extern const void *CCryptoBoringSSL_EVP_aead_aes_256_gcm(void);
extern int CCryptoBoringSSL_EVP_AEAD_CTX_init(
    aead_context *context, const void *aead, const uint8_t *key, size_t key_length, size_t tag_length, void *engine);
extern void CCryptoBoringSSL_EVP_AEAD_CTX_cleanup(aead_context *context);
extern int CCryptoBoringSSL_EVP_AEAD_CTX_open(
    const aead_context *context, uint8_t *out, size_t *out_length, size_t room, const uint8_t *nonce,
    size_t nonce_length, const uint8_t *in, size_t in_length, const uint8_t *data, size_t data_length);
extern int CCryptoBoringSSL_EVP_AEAD_CTX_seal(
    const aead_context *context, uint8_t *out, size_t *out_length, size_t room, const uint8_t *nonce,
    size_t nonce_length, const uint8_t *in, size_t in_length, const uint8_t *data, size_t data_length);
extern int CCryptoBoringSSL_SHA256_Init(sha256_state *state);
extern int CCryptoBoringSSL_SHA256_Update(sha256_state *state, const void *bytes, size_t length);
extern int CCryptoBoringSSL_SHA256_Final(uint8_t *digest, sha256_state *state);

// MARK: The floor

enum { token_length = 16, wrapped_length = 40, nonce_length = 12, tag_length = 16, max_half = 4096 };

struct raw_floor {
    sqlite3 *connection;
    sqlite3_stmt *begin, *commit, *by_account_and_service, *by_account, *by_service, *insert, *insert_lookup, *delete_row;
    sha256_state inner, outer;
    uint8_t class_keys[2][32];
};

typedef enum { secret_half = 1, metadata_half = 2 } row_half;

#define COLUMNS \
    "uuid, class, protection, generation, revision, sync, tombstone, primary_key, access_group, " \
    "acct, svce, srvr, labl, atag, klbl, pkhh, subj, issr, metadata, secret, lookup_revision"
#define SELECT(condition) \
    "SELECT id, " COLUMNS " FROM item WHERE +class = ? AND " condition \
    " AND +access_group = ? AND sync = 0 AND tombstone = 0 ORDER BY id"

static int prepare(sqlite3 *connection, const char *sql, sqlite3_stmt **statement) {
    return sqlite3_prepare_v3(connection, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) == SQLITE_OK;
}

static void prepare_hmac(raw_floor *floor, const uint8_t *key) {
    uint8_t block[64];
    for (size_t index = 0; index < sizeof block; index++) block[index] = (index < 32 ? key[index] : 0) ^ 0x36;
    CCryptoBoringSSL_SHA256_Init(&floor->inner);
    CCryptoBoringSSL_SHA256_Update(&floor->inner, block, sizeof block);
    for (size_t index = 0; index < sizeof block; index++) block[index] ^= 0x36 ^ 0x5C;
    CCryptoBoringSSL_SHA256_Init(&floor->outer);
    CCryptoBoringSSL_SHA256_Update(&floor->outer, block, sizeof block);
}

raw_floor *raw_floor_open(
    const char *path, const uint8_t *index_key, const uint8_t *secret_key, const uint8_t *metadata_key) {
    raw_floor *floor = calloc(1, sizeof *floor);
    if (!floor) return NULL;
    prepare_hmac(floor, index_key);
    memcpy(floor->class_keys[secret_half - 1], secret_key, 32);
    memcpy(floor->class_keys[metadata_half - 1], metadata_key, 32);
    const char *settings =
        "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; "
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;";
    int opened =
        sqlite3_open_v2(path, &floor->connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
        && sqlite3_exec(floor->connection, settings, NULL, NULL, NULL) == SQLITE_OK
        && prepare(floor->connection, "BEGIN IMMEDIATE", &floor->begin)
        && prepare(floor->connection, "COMMIT", &floor->commit)
        && prepare(
            floor->connection, SELECT("acct = ? AND svce = ? AND srvr IS NULL"), &floor->by_account_and_service)
        && prepare(floor->connection, SELECT("acct = ? AND srvr IS NULL"), &floor->by_account)
        && prepare(floor->connection, SELECT("svce = ?"), &floor->by_service)
        && prepare(
            floor->connection,
            "INSERT INTO item (" COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &floor->insert)
        && prepare(floor->connection, "INSERT INTO lookup (token, item) VALUES (?, ?)", &floor->insert_lookup)
        && prepare(floor->connection, "DELETE FROM item WHERE id = ?", &floor->delete_row);
    if (opened) return floor;
    raw_floor_close(floor);
    return NULL;
}

void raw_floor_close(raw_floor *floor) {
    sqlite3_stmt *statements[] = {floor->begin, floor->commit, floor->by_account_and_service, floor->by_account,
                                  floor->by_service, floor->insert, floor->insert_lookup, floor->delete_row};
    for (size_t index = 0; index < sizeof statements / sizeof *statements; index++) sqlite3_finalize(statements[index]);
    sqlite3_close(floor->connection);
    free(floor);
}

// MARK: Cryptography

/// Ends the HMAC of the message in `state`.
static void finish_token(const raw_floor *floor, sha256_state *state, uint8_t *token) {
    uint8_t digest[32];
    CCryptoBoringSSL_SHA256_Final(digest, state);
    sha256_state outer = floor->outer;
    CCryptoBoringSSL_SHA256_Update(&outer, digest, sizeof digest);
    CCryptoBoringSSL_SHA256_Final(digest, &outer);
    memcpy(token, digest, token_length);
}

static void make_token(const raw_floor *floor, const char *name, const char *value, uint8_t *token) {
    sha256_state state = floor->inner;
    CCryptoBoringSSL_SHA256_Update(&state, name, strlen(name));
    CCryptoBoringSSL_SHA256_Update(&state, value, strlen(value));
    finish_token(floor, &state, token);
}

static const char data_label[] = "latchkey v1 item and a keychain's identifier";
typedef struct { uint8_t bytes[sizeof data_label - 1 + 16 + token_length + 3 + 8]; } additional_data;

static void make_additional_data(
    additional_data *data, row_half half, const uint8_t *uuid, const uint8_t *group, int64_t item_class,
    int64_t protection, uint64_t revision) {
    uint8_t *next = data->bytes;
    memcpy(next, data_label, sizeof data_label - 1);
    next += sizeof data_label - 1;
    memcpy(next, uuid, 16);
    memcpy(next + 16, group, token_length);
    next += 16 + token_length;
    *next++ = (uint8_t)item_class;
    *next++ = (uint8_t)protection;
    *next++ = (uint8_t)half;
    for (int shift = 56; shift >= 0; shift -= 8) *next++ = (uint8_t)(revision >> shift);
}

/// Unwraps the key of a half and opens it: `wrapped key(40) ‖ nonce(12) ‖ ciphertext ‖ tag(16)`.
static int open_half(
    const raw_floor *floor, row_half half, const uint8_t *sealed, size_t length, const additional_data *data,
    uint8_t *content, size_t *content_length) {
    if (length < wrapped_length + nonce_length + tag_length || length > max_half) return 0;
    uint8_t key[32];
    aes_key prepared;
    CCryptoBoringSSL_AES_set_decrypt_key(floor->class_keys[half - 1], 256, &prepared);
    if (CCryptoBoringSSL_AES_unwrap_key(&prepared, NULL, key, sealed, wrapped_length) != sizeof key) return 0;
    aead_context context;
    if (!CCryptoBoringSSL_EVP_AEAD_CTX_init(
            &context, CCryptoBoringSSL_EVP_aead_aes_256_gcm(), key, sizeof key, 0, NULL))
        return 0;
    const uint8_t *nonce = sealed + wrapped_length;
    int opened = CCryptoBoringSSL_EVP_AEAD_CTX_open(
        &context, content, content_length, max_half, nonce, nonce_length, nonce + nonce_length,
        length - wrapped_length - nonce_length, data->bytes, sizeof data->bytes);
    CCryptoBoringSSL_EVP_AEAD_CTX_cleanup(&context);
    return opened;
}

/// Seals a half under a new key. Its length, or 0.
static size_t seal_half(
    const raw_floor *floor, row_half half, const uint8_t *content, size_t length, const additional_data *data,
    uint8_t *sealed) {
    uint8_t key[32];
    aes_key prepared;
    if (length > max_half || getrandom(key, sizeof key, 0) != sizeof key) return 0;
    CCryptoBoringSSL_AES_set_encrypt_key(floor->class_keys[half - 1], 256, &prepared);
    CCryptoBoringSSL_AES_wrap_key(&prepared, NULL, sealed, key, sizeof key);
    uint8_t *nonce = sealed + wrapped_length;
    if (getrandom(nonce, nonce_length, 0) != nonce_length) return 0;
    aead_context context;
    if (!CCryptoBoringSSL_EVP_AEAD_CTX_init(
            &context, CCryptoBoringSSL_EVP_aead_aes_256_gcm(), key, sizeof key, 0, NULL))
        return 0;
    size_t written = 0;
    int done = CCryptoBoringSSL_EVP_AEAD_CTX_seal(
        &context, nonce + nonce_length, &written, length + tag_length, nonce, nonce_length, content, length,
        data->bytes, sizeof data->bytes);
    CCryptoBoringSSL_EVP_AEAD_CTX_cleanup(&context);
    return done ? wrapped_length + nonce_length + written : 0;
}

// MARK: Reading

/// Opens a half of the current row of a SELECT.
static int open_column(
    const raw_floor *floor, sqlite3_stmt *row, row_half half, uint8_t *content, size_t *content_length) {
    const uint8_t *uuid = sqlite3_column_blob(row, 1), *group = sqlite3_column_blob(row, 9);
    if (!uuid || !group || sqlite3_column_bytes(row, 1) != 16 || sqlite3_column_bytes(row, 9) != token_length) return 0;
    additional_data data;
    make_additional_data(
        &data, half, uuid, group, sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3),
        (uint64_t)sqlite3_column_int64(row, 5));
    int column = half == secret_half ? 20 : 19;
    const uint8_t *sealed = sqlite3_column_blob(row, column);
    return sealed
        && open_half(floor, half, sealed, (size_t)sqlite3_column_bytes(row, column), &data, content, content_length);
}

/// Binds the tokens of a search and moves to its first row. The statement must be reset later. NULL
/// if no row is found.
static sqlite3_stmt *find(raw_floor *floor, const char *account, const char *service) {
    sqlite3_stmt *statement =
        !account ? floor->by_service : service ? floor->by_account_and_service : floor->by_account;
    uint8_t token[token_length];
    int index = 1;
    sqlite3_bind_int64(statement, index++, 1);
    if (account) {
        make_token(floor, "acct", account, token);
        sqlite3_bind_blob64(statement, index++, token, sizeof token, SQLITE_TRANSIENT);
    }
    if (service) {
        make_token(floor, "svce", service, token);
        sqlite3_bind_blob64(statement, index++, token, sizeof token, SQLITE_TRANSIENT);
    }
    make_token(floor, "group", "latchkey.shared", token);
    sqlite3_bind_blob64(statement, index, token, sizeof token, SQLITE_TRANSIENT);
    if (sqlite3_step(statement) == SQLITE_ROW) return statement;
    sqlite3_reset(statement);
    return NULL;
}

static int copy(const uint8_t *content, size_t length, uint8_t *target, size_t room) {
    if (length > room) length = room;
    memcpy(target, content, length);
    return (int)length;
}

int raw_floor_secret(raw_floor *floor, const char *account, const char *service, uint8_t *secret, size_t room) {
    uint8_t content[max_half];
    size_t length = 0;
    sqlite3_stmt *row = find(floor, account, service);
    if (!row) return -1;
    int opened = open_column(floor, row, metadata_half, content, &length)
        && open_column(floor, row, secret_half, content, &length);
    sqlite3_reset(row);
    return opened ? copy(content, length, secret, room) : -1;
}

int raw_floor_metadata(raw_floor *floor, const char *account, const char *service, uint8_t *metadata, size_t room) {
    uint8_t content[max_half];
    size_t length = 0;
    sqlite3_stmt *row = find(floor, account, service);
    if (!row) return -1;
    int opened = open_column(floor, row, metadata_half, content, &length);
    sqlite3_reset(row);
    return opened ? copy(content, length, metadata, room) : -1;
}

int raw_floor_service(raw_floor *floor, const char *service) {
    uint8_t content[max_half];
    size_t length = 0;
    int count = 0;
    sqlite3_stmt *row = find(floor, NULL, service);
    if (!row) return 0;
    do {
        if (!open_column(floor, row, metadata_half, content, &length)
            || !open_column(floor, row, secret_half, content, &length)) {
            count = -1;
            break;
        }
        count++;
    } while (sqlite3_step(row) == SQLITE_ROW);
    sqlite3_reset(row);
    return count;
}

// MARK: Changes

static int run(sqlite3_stmt *statement) {
    int done = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return done;
}

static void bind_bytes(sqlite3_stmt *statement, int index, const uint8_t *bytes, size_t length) {
    sqlite3_bind_blob64(statement, index, bytes, length, SQLITE_TRANSIENT);
}

/// Adds the token of one lookup attribute to the row that was inserted last.
static int add_lookup(raw_floor *floor, int64_t row, const char *name, const char *value) {
    uint8_t token[token_length];
    make_token(floor, name, value, token);
    bind_bytes(floor->insert_lookup, 1, token, sizeof token);
    sqlite3_bind_int64(floor->insert_lookup, 2, row);
    return run(floor->insert_lookup);
}

int raw_floor_add(
    raw_floor *floor, const char *account, const char *service, const char *label, const uint8_t *metadata,
    size_t metadata_length, const uint8_t *secret, size_t secret_length) {
    uint8_t uuid[16], tokens[3][token_length], group[token_length], primary_key[token_length];
    if (getrandom(uuid, sizeof uuid, 0) != sizeof uuid) return -1;
    make_token(floor, "acct", account, tokens[0]);
    make_token(floor, "svce", service, tokens[1]);
    make_token(floor, "labl", label, tokens[2]);
    make_token(floor, "group", "latchkey.shared", group);
    sha256_state state = floor->inner;
    CCryptoBoringSSL_SHA256_Update(&state, "primary key", strlen("primary key"));
    CCryptoBoringSSL_SHA256_Update(&state, account, strlen(account));
    CCryptoBoringSSL_SHA256_Update(&state, service, strlen(service));
    CCryptoBoringSSL_SHA256_Update(&state, group, sizeof group);
    finish_token(floor, &state, primary_key);

    additional_data data;
    uint8_t sealed_metadata[max_half + 68], sealed_secret[max_half + 68];
    make_additional_data(&data, metadata_half, uuid, group, 1, 6, 1);
    metadata_length = seal_half(floor, metadata_half, metadata, metadata_length, &data, sealed_metadata);
    make_additional_data(&data, secret_half, uuid, group, 1, 6, 1);
    secret_length = seal_half(floor, secret_half, secret, secret_length, &data, sealed_secret);
    if (!metadata_length || !secret_length || !run(floor->begin)) return -1;

    sqlite3_stmt *row = floor->insert;
    bind_bytes(row, 1, uuid, sizeof uuid);
    const int64_t numbers[] = {1, 6, 1, 1, 0, 0};  // class, protection, generation, revision, sync, tombstone
    for (int index = 0; index < 6; index++) sqlite3_bind_int64(row, 2 + index, numbers[index]);
    bind_bytes(row, 8, primary_key, sizeof primary_key);
    bind_bytes(row, 9, group, sizeof group);
    bind_bytes(row, 10, tokens[0], token_length);
    bind_bytes(row, 11, tokens[1], token_length);
    bind_bytes(row, 13, tokens[2], token_length);
    bind_bytes(row, 19, sealed_metadata, metadata_length);
    bind_bytes(row, 20, sealed_secret, secret_length);
    sqlite3_bind_int64(row, 21, 1);
    int added = run(row);
    int64_t id = sqlite3_last_insert_rowid(floor->connection);
    added = added && add_lookup(floor, id, "xdg:schema", "org.freedesktop.Secret.Generic")
        && add_lookup(floor, id, "service", service) && add_lookup(floor, id, "account", account)
        && add_lookup(floor, id, "user", account) && add_lookup(floor, id, "username", account);
    return added && run(floor->commit) ? 0 : -1;
}

int raw_floor_delete(raw_floor *floor, const char *account, const char *service) {
    uint8_t content[max_half];
    size_t length = 0;
    if (!run(floor->begin)) return -1;
    sqlite3_stmt *row = find(floor, account, service);
    int opened = row && open_column(floor, row, metadata_half, content, &length);
    int64_t id = row ? sqlite3_column_int64(row, 0) : 0;
    if (row) sqlite3_reset(row);
    sqlite3_bind_int64(floor->delete_row, 1, id);
    int deleted = opened && run(floor->delete_row);
    return run(floor->commit) && deleted ? 0 : -1;
}
