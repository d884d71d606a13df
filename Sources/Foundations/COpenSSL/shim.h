// SPDX-License-Identifier: Apache-2.0

#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/decoder.h>
#include <openssl/ec.h>
#include <openssl/encoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/http.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

/* Sums of macros, which Swift does not see. */
static const int LATCHKEY_PUBLIC_KEY = EVP_PKEY_PUBLIC_KEY;
static const int LATCHKEY_KEYPAIR = EVP_PKEY_KEYPAIR;

#endif
