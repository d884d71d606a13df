// SPDX-License-Identifier: Apache-2.0

#ifndef TRUST_FLOOR_H
#define TRUST_FLOOR_H

#include <stddef.h>
#include <stdint.h>

/* libcrypto's own certificate operations, for comparison with Latchkey's, and the certificates that
   both evaluate. */

/* Generates a P-256 key or a 2048-bit RSA key. */
void *floor_key_new(int is_curve);
void floor_key_free(void *key);

/* Issues a certificate in DER for the subject's key, signed with the issuer's key: a server's
   certificate if `host` is not NULL, else a CA's. Returns the number of bytes, or 0 on failure. */
size_t floor_certificate(
    const char *subject, void *key, const char *issuer, void *issuer_key, const char *host, long serial, uint8_t *der, size_t room);

/* Parsed certificates: the leaf, the intermediates, the anchor. */
typedef struct floor_chain floor_chain;
floor_chain *floor_chain_new(const uint8_t *const *ders, const size_t *counts, size_t count);
void floor_chain_free(floor_chain *chain);

/* Runs X509_verify_cert in strict mode for a server of this name: the leaf is the first
   certificate, the anchor the last, and the others are intermediates. Returns 1 if the leaf is
   accepted. */
int floor_chain_verify(floor_chain *chain, const char *host);

#endif
