// SPDX-License-Identifier: Apache-2.0

#ifndef TRUST_FLOOR_H
#define TRUST_FLOOR_H

#include <stddef.h>
#include <stdint.h>

/* What libcrypto takes by itself for what Latchkey does with certificates, and the certificates that both are given. */

/* A key of P-256, or of RSA with 2048 bits. */
void *floor_key_new(int is_curve);
void floor_key_free(void *key);

/* A certificate in DER, for the subject's key by the issuer's. Where `host` is not NULL it is a server's, else an authority's. The number of bytes,
   or 0. */
size_t floor_certificate(
    const char *subject, void *key, const char *issuer, void *issuer_key, const char *host, long serial, uint8_t *der, size_t room);

/* Certificates that were read: the leaf, another, the anchor. */
typedef struct floor_chain floor_chain;
floor_chain *floor_chain_new(const uint8_t *const *ders, const size_t *counts, size_t count);
void floor_chain_free(floor_chain *chain);

/* X509_verify_cert, strictly, for a server of this name: the first of the chain, with the last as anchor and the others between. 1 where it is
   accepted. */
int floor_chain_verify(floor_chain *chain, const char *host);

#endif
