// SPDX-License-Identifier: Apache-2.0

#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/aes.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/core_names.h>
#include <openssl/decoder.h>
#include <openssl/ec.h>
#include <openssl/encoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/http.h>
#include <openssl/kdf.h>
#include <openssl/md5.h>
#include <openssl/params.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

/* Macros that are sums of other macros, which Swift does not import. */
static const int LATCHKEY_PUBLIC_KEY = EVP_PKEY_PUBLIC_KEY;
static const int LATCHKEY_KEYPAIR = EVP_PKEY_KEYPAIR;

/*
 * Hash functions on a state in the caller's memory, for callers that copy states as bytes; EVP
 * allocates its states itself. libcrypto 3 deprecates these functions in favor of EVP, so Swift
 * would print warnings for them; calls from this header do not cause warnings.
 *
 * `num`, the number of bytes of an incomplete block, is an index into memory, so it is computed
 * from the length of the message in each call: a state with arbitrary content results in a wrong
 * digest, but is memory-safe.
 */
static inline void latchkey_md5_init(MD5_CTX *state) { MD5_Init(state); }
static inline void latchkey_sha1_init(SHA_CTX *state) { SHA1_Init(state); }
static inline void latchkey_sha224_init(SHA256_CTX *state) { SHA224_Init(state); }
static inline void latchkey_sha256_init(SHA256_CTX *state) { SHA256_Init(state); }
static inline void latchkey_sha384_init(SHA512_CTX *state) { SHA384_Init(state); }
static inline void latchkey_sha512_init(SHA512_CTX *state) { SHA512_Init(state); }

static inline void latchkey_md5_update(MD5_CTX *state, const void *bytes, size_t count) {
    state->num = (state->Nl >> 3) % MD5_CBLOCK;
    MD5_Update(state, bytes, count);
}
static inline void latchkey_sha1_update(SHA_CTX *state, const void *bytes, size_t count) {
    state->num = (state->Nl >> 3) % SHA_CBLOCK;
    SHA1_Update(state, bytes, count);
}
static inline void latchkey_sha256_update(SHA256_CTX *state, const void *bytes, size_t count) {
    state->num = (state->Nl >> 3) % SHA256_CBLOCK;
    SHA256_Update(state, bytes, count);
}
static inline void latchkey_sha512_update(SHA512_CTX *state, const void *bytes, size_t count) {
    state->num = (unsigned int)((state->Nl >> 3) % SHA512_CBLOCK);
    SHA512_Update(state, bytes, count);
}

static inline void latchkey_md5_final(MD5_CTX *state, unsigned char *digest) {
    state->num = (state->Nl >> 3) % MD5_CBLOCK;
    MD5_Final(digest, state);
}
static inline void latchkey_sha1_final(SHA_CTX *state, unsigned char *digest) {
    state->num = (state->Nl >> 3) % SHA_CBLOCK;
    SHA1_Final(digest, state);
}
static inline void latchkey_sha256_final(SHA256_CTX *state, unsigned int length, unsigned char *digest) {
    state->num = (state->Nl >> 3) % SHA256_CBLOCK;
    state->md_len = length;
    SHA256_Final(digest, state);
}
static inline void latchkey_sha512_final(SHA512_CTX *state, unsigned int length, unsigned char *digest) {
    state->num = (unsigned int)((state->Nl >> 3) % SHA512_CBLOCK);
    state->md_len = length;
    SHA512_Final(digest, state);
}

/*
 * Wraps `count` bytes with AES key wrap (RFC 3394) into `wrapped`, of count + 8 bytes; returns
 * their number, or a number that is not positive. `bits` is the size of `wrapping`; `initial` has 8
 * bytes, or is NULL for the initial value of the RFC. The functions are deprecated like those above,
 * and need no provider of libcrypto.
 */
static inline int latchkey_aes_wrap_key(
    const unsigned char *wrapping, int bits, const unsigned char *initial, const unsigned char *key,
    unsigned int count, unsigned char *wrapped) {
    AES_KEY schedule;
    int written = 0;
    if (AES_set_encrypt_key(wrapping, bits, &schedule) == 0) {
        written = AES_wrap_key(&schedule, initial, wrapped, key, count);
    }
    OPENSSL_cleanse(&schedule, sizeof schedule);
    return written;
}

/*
 * Unwraps `count` bytes into `key`, of count - 8 bytes; returns their number, or a number that is
 * not positive if they were not wrapped under `wrapping` with this initial value.
 */
static inline int latchkey_aes_unwrap_key(
    const unsigned char *wrapping, int bits, const unsigned char *initial, const unsigned char *wrapped,
    unsigned int count, unsigned char *key) {
    AES_KEY schedule;
    int written = 0;
    if (AES_set_decrypt_key(wrapping, bits, &schedule) == 0) {
        written = AES_unwrap_key(&schedule, initial, key, wrapped, count);
    }
    OPENSSL_cleanse(&schedule, sizeof schedule);
    return written;
}

#endif
