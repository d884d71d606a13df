// SPDX-License-Identifier: Apache-2.0

#include "EnclaveFloor.h"

#include <stdlib.h>
#include <string.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_tctildr.h>

struct enclave_floor {
    TSS2_TCTI_CONTEXT *connection;
    ESYS_CONTEXT *context;
    ESYS_TR parent;
    ESYS_TR session;
    TPM2B_PUBLIC *public_area;
    TPM2B_PRIVATE *private_area;
    TPM2B_AUTH authorization;
};

static const ESYS_TR none = ESYS_TR_NONE;

static TPM2B_PUBLIC key_template(TPMA_OBJECT use) {
    TPM2B_PUBLIC area = {0};
    area.publicArea.type = TPM2_ALG_ECC;
    area.publicArea.nameAlg = TPM2_ALG_SHA256;
    area.publicArea.objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN
        | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA | use;
    area.publicArea.parameters.eccDetail.curveID = TPM2_ECC_NIST_P256;
    area.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_NULL;
    area.publicArea.parameters.eccDetail.kdf.scheme = TPM2_ALG_NULL;
    area.publicArea.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_NULL;
    return area;
}

static TSS2_RC create(enclave_floor *floor) {
    TPM2B_SENSITIVE_CREATE empty = {0}, sensitive = {0};
    TPM2B_DATA outside = {0};
    TPML_PCR_SELECTION registers = {0};
    TPM2B_PUBLIC storage = key_template(TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT);
    TPM2B_PUBLIC area = key_template(TPMA_OBJECT_DECRYPT | TPMA_OBJECT_SIGN_ENCRYPT);
    TPMT_SYM_DEF_OBJECT *cipher = &storage.publicArea.parameters.eccDetail.symmetric;
    cipher->algorithm = TPM2_ALG_AES;
    cipher->keyBits.aes = 128;
    cipher->mode.aes = TPM2_ALG_CFB;
    TSS2_RC code = Esys_CreatePrimary(floor->context, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, none, none, &empty, &storage,
        &outside, &registers, &floor->parent, NULL, NULL, NULL, NULL);
    if (code) return code;
    floor->authorization.size = 32;
    memset(floor->authorization.buffer, 0x5A, 32);
    sensitive.sensitive.userAuth = floor->authorization;
    return Esys_Create(floor->context, floor->parent, ESYS_TR_PASSWORD, none, none, &sensitive, &area, &outside,
        &registers, &floor->private_area, &floor->public_area, NULL, NULL, NULL);
}

static TSS2_RC start_session(enclave_floor *floor) {
    TPMT_SYM_DEF cipher = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB};
    return Esys_StartAuthSession(floor->context, floor->parent, none, none, none, none, NULL, TPM2_SE_HMAC, &cipher,
        TPM2_ALG_SHA256, &floor->session);
}

uint32_t enclave_floor_open(const char *tcti, int has_session, enclave_floor **opened) {
    enclave_floor *floor = calloc(1, sizeof *floor);
    if (!floor) return TSS2_ESYS_RC_MEMORY;
    floor->parent = ESYS_TR_NONE;
    floor->session = ESYS_TR_PASSWORD;
    TSS2_RC code = Tss2_TctiLdr_Initialize(tcti, &floor->connection);
    if (!code) code = Esys_Initialize(&floor->context, floor->connection, NULL);
    if (!code) code = Esys_Startup(floor->context, TPM2_SU_CLEAR);
    // The TPM has been started before.
    if (code == TPM2_RC_INITIALIZE) code = 0;
    if (!code) code = create(floor);
    if (!code && has_session) code = start_session(floor);
    if (code) enclave_floor_close(floor);
    else *opened = floor;
    return code;
}

void enclave_floor_close(enclave_floor *floor) {
    if (floor->context) {
        if (floor->session != ESYS_TR_PASSWORD) Esys_FlushContext(floor->context, floor->session);
        if (floor->parent != ESYS_TR_NONE) Esys_FlushContext(floor->context, floor->parent);
        Esys_Finalize(&floor->context);
    }
    if (floor->connection) Tss2_TctiLdr_Finalize(&floor->connection);
    Esys_Free(floor->public_area);
    Esys_Free(floor->private_area);
    free(floor);
}

static TSS2_RC load(enclave_floor *floor, TPMA_SESSION encrypted, ESYS_TR *key) {
    TSS2_RC code = Esys_Load(floor->context, floor->parent, ESYS_TR_PASSWORD, none, none, floor->private_area,
        floor->public_area, key);
    if (code) return code;
    code = Esys_TR_SetAuth(floor->context, *key, &floor->authorization);
    if (!code && floor->session != ESYS_TR_PASSWORD)
        code = Esys_TRSess_SetAttributes(floor->context, floor->session, encrypted | TPMA_SESSION_CONTINUESESSION, 0xFF);
    if (code) Esys_FlushContext(floor->context, *key);
    return code;
}

static void put_number(uint8_t place[32], const TPM2B_ECC_PARAMETER *number) {
    memset(place, 0, 32);
    memcpy(place + 32 - number->size, number->buffer, number->size);
}

uint32_t enclave_floor_sign(enclave_floor *floor, const uint8_t bytes[32], uint8_t signature[64]) {
    ESYS_TR key;
    TSS2_RC code = load(floor, TPMA_SESSION_DECRYPT, &key);
    if (code) return code;
    TPM2B_DIGEST digest = {.size = 32};
    memcpy(digest.buffer, bytes, 32);
    TPMT_SIG_SCHEME scheme = {.scheme = TPM2_ALG_ECDSA, .details.ecdsa.hashAlg = TPM2_ALG_SHA256};
    TPMT_TK_HASHCHECK ticket = {.tag = TPM2_ST_HASHCHECK, .hierarchy = TPM2_RH_NULL};
    TPMT_SIGNATURE *made = NULL;
    code = Esys_Sign(floor->context, key, floor->session, none, none, &digest, &scheme, &ticket, &made);
    if (!code) {
        put_number(signature, &made->signature.ecdsa.signatureR);
        put_number(signature + 32, &made->signature.ecdsa.signatureS);
        Esys_Free(made);
    }
    Esys_FlushContext(floor->context, key);
    return code;
}

uint32_t enclave_floor_agree(enclave_floor *floor, uint8_t secret[32]) {
    ESYS_TR key;
    TSS2_RC code = load(floor, TPMA_SESSION_DECRYPT | TPMA_SESSION_ENCRYPT, &key);
    if (code) return code;
    TPM2B_ECC_POINT point = {0};
    point.point = floor->public_area->publicArea.unique.ecc;
    TPM2B_ECC_POINT *agreed = NULL;
    code = Esys_ECDH_ZGen(floor->context, key, floor->session, none, none, &point, &agreed);
    if (!code) {
        put_number(secret, &agreed->point.x);
        Esys_Free(agreed);
    }
    Esys_FlushContext(floor->context, key);
    return code;
}
