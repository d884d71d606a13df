// SPDX-License-Identifier: Apache-2.0

#ifndef KEY_FLOOR_H
#define KEY_FLOOR_H

#include <stddef.h>
#include <stdint.h>

/* What libcrypto takes by itself for what Latchkey does with keys. Each answers the number of bytes written, or 0 where it failed. */

typedef struct evp_pkey_st floor_key;

/* A key of RSA with so many bits, or of the curve with so many where `is_curve`. */
floor_key *floor_generate(int is_curve, int bits);
void floor_free(floor_key *key);

/* SHA-256 of the message under PKCS #1 v1.5 or ECDSA. */
size_t floor_sign(floor_key *key, const uint8_t *message, size_t length, uint8_t *signature, size_t room);
size_t floor_verify(floor_key *key, const uint8_t *message, size_t length, const uint8_t *signature, size_t count);

/* OAEP with SHA-256, or a new pair, ECDH, X9.63 and AES-128-GCM. */
size_t floor_encrypt(floor_key *key, const uint8_t *plain, size_t length, uint8_t *cipher, size_t room);
size_t floor_decrypt(floor_key *key, const uint8_t *cipher, size_t length, uint8_t *plain, size_t room);

size_t floor_agree(floor_key *key, floor_key *other, uint8_t *agreed, size_t room);

#endif
