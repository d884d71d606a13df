// SPDX-License-Identifier: Apache-2.0

#include "KeyFloor.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/rsa.h>
#include <string.h>

static int is_curve(floor_key *key) { return EVP_PKEY_is_a(key, "EC"); }

floor_key *floor_generate(int curve, int bits) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, curve ? "EC" : "RSA", NULL);
    EVP_PKEY *key = NULL;
    int nid = bits == 256 ? NID_X9_62_prime256v1 : bits == 384 ? NID_secp384r1 : NID_secp521r1;
    EVP_PKEY_keygen_init(context);
    if (curve) EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, nid);
    else EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits);
    EVP_PKEY_generate(context, &key);
    EVP_PKEY_CTX_free(context);
    return key;
}

void floor_free(floor_key *key) { EVP_PKEY_free(key); }

static int prepare(EVP_PKEY_CTX *context, floor_key *key) {
    if (!is_curve(key) && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) != 1) return 0;
    return EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) == 1;
}

size_t floor_sign(floor_key *key, const uint8_t *message, size_t length, uint8_t *signature, size_t room) {
    uint8_t digest[32];
    EVP_Digest(message, length, digest, NULL, EVP_sha256(), NULL);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    size_t count = room;
    int done = EVP_PKEY_sign_init(context) == 1 && prepare(context, key) && EVP_PKEY_sign(context, signature, &count, digest, 32) == 1;
    EVP_PKEY_CTX_free(context);
    return done ? count : 0;
}

size_t floor_verify(floor_key *key, const uint8_t *message, size_t length, const uint8_t *signature, size_t count) {
    uint8_t digest[32];
    EVP_Digest(message, length, digest, NULL, EVP_sha256(), NULL);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    int done = EVP_PKEY_verify_init(context) == 1 && prepare(context, key)
        && EVP_PKEY_verify(context, signature, count, digest, 32) == 1;
    EVP_PKEY_CTX_free(context);
    return done;
}

size_t floor_agree(floor_key *key, floor_key *other, uint8_t *agreed, size_t room) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    size_t count = room;
    int done = EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer_ex(context, other, 0) == 1
        && EVP_PKEY_derive(context, agreed, &count) == 1;
    EVP_PKEY_CTX_free(context);
    return done ? count : 0;
}

static int oaep(EVP_PKEY_CTX *context) {
    return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1 && EVP_PKEY_CTX_set_rsa_oaep_md(context, EVP_sha256()) == 1
        && EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) == 1;
}

/* Derives the key (16 bytes) and the initialization vector (16 bytes). */
static int derive(const uint8_t *agreed, size_t count, const uint8_t *point, size_t length, uint8_t *out) {
    EVP_KDF *function = EVP_KDF_fetch(NULL, "X963KDF", NULL);
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(function);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string("digest", "SHA256", 0), OSSL_PARAM_construct_octet_string("key", (void *)agreed, count),
        OSSL_PARAM_construct_octet_string("info", (void *)point, length), OSSL_PARAM_construct_end(),
    };
    int done = EVP_KDF_derive(context, out, 32, parameters) == 1;
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(function);
    return done;
}

static int gcm(int seal, const uint8_t *secret, const uint8_t *in, size_t length, uint8_t *out, uint8_t *tag) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int count = 0;
    EVP_CipherInit_ex(context, EVP_aes_128_gcm(), NULL, NULL, NULL, seal);
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, 16, NULL);
    EVP_CipherInit_ex(context, NULL, NULL, secret, secret + 16, seal);
    EVP_CipherUpdate(context, out, &count, in, (int)length);
    if (!seal) EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag);
    int done = EVP_CipherFinal_ex(context, out + count, &count);
    if (seal) EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag);
    EVP_CIPHER_CTX_free(context);
    return done;
}

static size_t point_length(floor_key *key) { return 1 + 2 * (size_t)((EVP_PKEY_get_bits(key) + 7) / 8); }

static size_t ecies_encrypt(floor_key *key, const uint8_t *plain, size_t length, uint8_t *cipher) {
    uint8_t agreed[66], secret[32];
    size_t points = point_length(key), got = 0;
    floor_key *ephemeral = floor_generate(1, EVP_PKEY_get_bits(key));
    size_t count = floor_agree(ephemeral, key, agreed, sizeof agreed);
    EVP_PKEY_get_octet_string_param(ephemeral, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, cipher, points, &got);
    floor_free(ephemeral);
    if (count == 0 || got != points || !derive(agreed, count, cipher, points, secret)) return 0;
    return gcm(1, secret, plain, length, cipher + points, cipher + points + length) ? points + length + 16 : 0;
}

static size_t ecies_decrypt(floor_key *key, const uint8_t *cipher, size_t length, uint8_t *plain) {
    uint8_t agreed[66], secret[32], tag[16];
    size_t points = point_length(key), body = length - points - 16;
    EVP_PKEY *other = EVP_PKEY_new();
    EVP_PKEY_copy_parameters(other, key);
    if (EVP_PKEY_set1_encoded_public_key(other, cipher, points) != 1) return 0;
    size_t count = floor_agree(key, other, agreed, sizeof agreed);
    EVP_PKEY_free(other);
    if (count == 0 || !derive(agreed, count, cipher, points, secret)) return 0;
    memcpy(tag, cipher + length - 16, 16);
    return gcm(0, secret, cipher + points, body, plain, tag) ? body : 0;
}

size_t floor_encrypt(floor_key *key, const uint8_t *plain, size_t length, uint8_t *cipher, size_t room) {
    if (is_curve(key)) return ecies_encrypt(key, plain, length, cipher);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    size_t count = room;
    int done = EVP_PKEY_encrypt_init(context) == 1 && oaep(context) && EVP_PKEY_encrypt(context, cipher, &count, plain, length) == 1;
    EVP_PKEY_CTX_free(context);
    return done ? count : 0;
}

size_t floor_decrypt(floor_key *key, const uint8_t *cipher, size_t length, uint8_t *plain, size_t room) {
    if (is_curve(key)) return ecies_decrypt(key, cipher, length, plain);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    size_t count = room;
    int done = EVP_PKEY_decrypt_init(context) == 1 && oaep(context) && EVP_PKEY_decrypt(context, plain, &count, cipher, length) == 1;
    EVP_PKEY_CTX_free(context);
    return done ? count : 0;
}
