// SPDX-License-Identifier: Apache-2.0

#ifndef KEY_FLOOR_H
#define KEY_FLOOR_H

#include <stddef.h>
#include <stdint.h>

/* libcrypto's own operations, for comparison with Latchkey's key operations. Each returns the
   number of bytes written, or 0 on failure. */

typedef struct evp_pkey_st floor_key;

/* Generates an RSA key, or a key on a NIST curve if `is_curve`, of the given size in bits. */
floor_key *floor_generate(int is_curve, int bits);
void floor_free(floor_key *key);

/* Signs or verifies the SHA-256 of the message with PKCS #1 v1.5 or ECDSA. */
size_t floor_sign(floor_key *key, const uint8_t *message, size_t length, uint8_t *signature, size_t room);
size_t floor_verify(floor_key *key, const uint8_t *message, size_t length, const uint8_t *signature, size_t count);

/* Encrypts or decrypts: RSA with OAEP and SHA-256; a curve with an ephemeral key pair, ECDH, X9.63
   and AES-128-GCM. */
size_t floor_encrypt(floor_key *key, const uint8_t *plain, size_t length, uint8_t *cipher, size_t room);
size_t floor_decrypt(floor_key *key, const uint8_t *cipher, size_t length, uint8_t *plain, size_t room);

size_t floor_agree(floor_key *key, floor_key *other, uint8_t *agreed, size_t room);

#endif
