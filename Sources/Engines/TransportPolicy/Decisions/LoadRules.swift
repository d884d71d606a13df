// SPDX-License-Identifier: Apache-2.0

/// The requirements of App Transport Security on the connections to one host.
struct LoadRules: Hashable {
    var allowsInsecureHTTP = false
    var minimumVersion = TLSVersion.tls12
    var requiresForwardSecrecy = true
    var requiresStrongKey = true
    var requiresStrongHash = true
    var requiresCertificateTransparency = false

    /// Without exceptions.
    static let strict = LoadRules()

    /// Without App Transport Security: only the evaluation of the server's certificates remains.
    static let unrestricted = LoadRules(
        allowsInsecureHTTP: true, minimumVersion: .tls10, requiresForwardSecrecy: false, requiresStrongKey: false,
        requiresStrongHash: false)
}
