// SPDX-License-Identifier: Apache-2.0

#ifndef ENCLAVE_FLOOR_H
#define ENCLAVE_FLOOR_H

#include <stddef.h>
#include <stdint.h>

/* A key on P-256 in a TPM, used with tpm2-tss's own calls. The key is stored outside of the TPM: each
   operation loads it, uses it and removes it. Each function returns the TPM's response code, 0 for
   success. */

typedef struct enclave_floor enclave_floor;

/* Connects, and creates the storage key and the key.

   tcti:        as tpm2-tools take it, "swtpm:host=127.0.0.1,port=2321".
   has_session: whether commands are sent in a salted HMAC session that encrypts their secrets; if
                not, the key's authorization value is sent as it is. */
uint32_t enclave_floor_open(const char *tcti, int has_session, enclave_floor **floor);
void enclave_floor_close(enclave_floor *floor);

/* Signs 32 bytes with ECDSA. The signature is r and s, of 32 bytes each. */
uint32_t enclave_floor_sign(enclave_floor *floor, const uint8_t digest[32], uint8_t signature[64]);
/* Agrees with the key's own public key. */
uint32_t enclave_floor_agree(enclave_floor *floor, uint8_t secret[32]);

#endif
