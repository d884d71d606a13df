// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A separate libcrypto context with the legacy algorithms (RC2, RC4), so that no other code of the
/// process can use them.
enum LegacyProviders {
    /// Never freed. If the legacy provider is not installed, the context has only the default
    /// algorithms. `nonisolated(unsafe)` is sound because the pointer is set once and libcrypto
    /// locks the context, so all threads may use it.
    nonisolated(unsafe) static let context: OpaquePointer? = {
        guard let context = OSSL_LIB_CTX_new() else { return nil }
        _ = OSSL_PROVIDER_load(context, "default")
        _ = OSSL_PROVIDER_load(context, "legacy")
        ERR_clear_error()
        return context
    }()
}
