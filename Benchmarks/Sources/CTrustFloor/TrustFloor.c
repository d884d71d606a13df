// SPDX-License-Identifier: Apache-2.0

#include "TrustFloor.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

void *floor_key_new(int is_curve) { return is_curve ? EVP_EC_gen("P-256") : EVP_RSA_gen(2048); }
void floor_key_free(void *key) { EVP_PKEY_free(key); }

static int name(X509_NAME *name, const char *common_name) {
    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)common_name, -1, -1, 0);
}

static int extend(X509 *certificate, X509 *issuer, EVP_PKEY *issuer_key, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509V3_set_issuer_pkey(&context, issuer_key);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    int done = extension != NULL && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return done;
}

size_t floor_certificate(
    const char *subject, void *key, const char *issuer, void *issuer_key, const char *host, long serial, uint8_t *der, size_t room) {
    X509 *certificate = X509_new(), *above = X509_new();
    char names[256];
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 90L * 86400);
    int done = name(X509_get_subject_name(certificate), subject) && name(X509_get_issuer_name(certificate), issuer)
        && name(X509_get_subject_name(above), issuer) && X509_set_pubkey(certificate, key) && X509_set_pubkey(above, issuer_key)
        && extend(above, above, issuer_key, NID_subject_key_identifier, "hash")
        && extend(certificate, above, issuer_key, NID_subject_key_identifier, "hash")
        && extend(certificate, above, issuer_key, NID_authority_key_identifier, "keyid:always");
    if (host != NULL) {
        snprintf(names, sizeof names, "DNS:%s", host);
        done = done && extend(certificate, above, issuer_key, NID_subject_alt_name, names)
            && extend(certificate, above, issuer_key, NID_key_usage, "critical,digitalSignature")
            && extend(certificate, above, issuer_key, NID_ext_key_usage, "serverAuth");
    } else {
        done = done && extend(certificate, above, issuer_key, NID_basic_constraints, "critical,CA:TRUE")
            && extend(certificate, above, issuer_key, NID_key_usage, "critical,keyCertSign");
    }
    size_t count = 0;
    if (done && X509_sign(certificate, issuer_key, EVP_sha256()) > 0) {
        int length = i2d_X509(certificate, NULL);
        if (length > 0 && (size_t)length <= room) {
            unsigned char *end = der;
            count = (size_t)i2d_X509(certificate, &end);
        }
    }
    X509_free(certificate);
    X509_free(above);
    return count;
}

struct floor_chain {
    X509 *leaf;
    STACK_OF(X509) *between;
    X509_STORE *store;
};

floor_chain *floor_chain_new(const uint8_t *const *ders, const size_t *counts, size_t count) {
    floor_chain *chain = calloc(1, sizeof *chain);
    chain->between = sk_X509_new_null();
    chain->store = X509_STORE_new();
    for (size_t index = 0; index < count; index++) {
        const unsigned char *der = ders[index];
        X509 *certificate = d2i_X509(NULL, &der, (long)counts[index]);
        if (index == 0) chain->leaf = certificate;
        else if (index + 1 < count) sk_X509_push(chain->between, certificate);
        else {
            X509_STORE_add_cert(chain->store, certificate);
            X509_free(certificate);
        }
    }
    return chain;
}

void floor_chain_free(floor_chain *chain) {
    X509_free(chain->leaf);
    sk_X509_pop_free(chain->between, X509_free);
    X509_STORE_free(chain->store);
    free(chain);
}

int floor_chain_verify(floor_chain *chain, const char *host) {
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    X509_STORE_CTX_init(context, chain->store, chain->leaf, chain->between);
    X509_VERIFY_PARAM *parameters = X509_STORE_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_X509_STRICT);
    X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER);
    X509_VERIFY_PARAM_set1_host(parameters, host, 0);
    int accepted = X509_verify_cert(context) == 1;
    X509_STORE_CTX_free(context);
    return accepted;
}
