// SPDX-License-Identifier: Apache-2.0

#ifndef CTSS2_SHIM_H
#define CTSS2_SHIM_H

#include <malloc.h>
#include <string.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>

/// A connection of ESYS: the table of functions that it calls, and the object that they use.
typedef struct {
    TSS2_TCTI_CONTEXT_COMMON_V1 functions;
    void *connection;
} CTSS2Interface;

// Macros that Swift does not import, because they are sums or casts.
static const TPM2_HANDLE CTSS2_FIRST_TRANSIENT = TPM2_TRANSIENT_FIRST;
static const TPM2_HANDLE CTSS2_FIRST_SESSION = TPM2_HMAC_SESSION_FIRST;
static const TPM2_HANDLE CTSS2_FIRST_INDEX = TPM2_NV_INDEX_FIRST;
static const UINT32 CTSS2_FIRST_FIXED_PROPERTY = TPM2_PT_FIXED;
static const UINT32 CTSS2_FIRST_VARIABLE_PROPERTY = TPM2_PT_VAR;
static const UINT32 CTSS2_MAX_PROPERTIES = TPM2_MAX_TPM_PROPERTIES;
static const UINT32 CTSS2_MAX_HANDLES = TPM2_MAX_CAP_HANDLES;
static const TSS2_RC CTSS2_TCTI_IO_ERROR = TSS2_TCTI_RC_IO_ERROR;
static const TSS2_RC CTSS2_TCTI_BAD_REFERENCE = TSS2_TCTI_RC_BAD_REFERENCE;
static const TSS2_RC CTSS2_TCTI_INSUFFICIENT_BUFFER = TSS2_TCTI_RC_INSUFFICIENT_BUFFER;
static const TSS2_RC CTSS2_TCTI_NOT_IMPLEMENTED = TSS2_TCTI_RC_NOT_IMPLEMENTED;
static const TSS2_RC CTSS2_ESYS_MEMORY = TSS2_ESYS_RC_MEMORY;
static const TSS2_RC CTSS2_ESYS_RESPONSE_AUTHENTICATION = TSS2_ESYS_RC_RSP_AUTH_FAILED;

/// Declared by string.h for GNU's extensions only.
void *memmem(const void *block, size_t length, const void *needle, size_t count);

/// Overwrites every copy of the needle in an allocated block.
static inline void CTSS2_wipe(void *block, const void *needle, size_t count) {
    unsigned char *end = (unsigned char *)block + (block ? malloc_usable_size(block) : 0);
    unsigned char *next = (unsigned char *)block;
    while (count > 0 && (next = (unsigned char *)memmem(next, (size_t)(end - next), needle, count)) != NULL) {
        explicit_bzero(next, count);
        next += count;
    }
}

/// Makes the C library overwrite blocks of more than about a KiB with 0xFF when they are freed; it keeps smaller ones
/// in a cache as they are. Allocated blocks are overwritten as well, with the complement. The complement must be zero:
/// calloc in another thread relies on the zeros of new memory if this ends meanwhile.
static inline void CTSS2_overwrite_freed(int overwrites) { mallopt(M_PERTURB, overwrites ? 0xFF : 0); }

#endif
