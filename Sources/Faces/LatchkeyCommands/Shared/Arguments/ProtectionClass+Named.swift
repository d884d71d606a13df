// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

extension ProtectionClass {
    /// Returns the class with this code; nil for nil.
    ///
    /// - Throws: errSecParam for an unknown code.
    static func named(_ code: String?) throws(CommandFailure) -> ProtectionClass? {
        guard let code else { return nil }
        guard let known = ProtectionClass(rawValue: code) else {
            throw .parameter("unknown protection class '\(code)'", hint: "ak, ck, dk, aku, cku, dku or akpu")
        }
        return known
    }
}
