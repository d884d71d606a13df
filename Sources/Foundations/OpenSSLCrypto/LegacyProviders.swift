// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A context of libcrypto's own with the old algorithms in it (RC2, RC4), so that nothing else of the process meets them.
enum LegacyProviders {
    /// Never freed. Where the module of the old algorithms is not installed there are the usual ones alone. Unsafe is only the pointer: the
    /// context is made once and may be used by all threads, because libcrypto locks it.
    nonisolated(unsafe) static let context: OpaquePointer? = {
        guard let context = OSSL_LIB_CTX_new() else { return nil }
        _ = OSSL_PROVIDER_load(context, "default")
        _ = OSSL_PROVIDER_load(context, "legacy")
        ERR_clear_error()
        return context
    }()
}
