// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Blocks of PEM (RFC 7468) of what is no secret.
public enum PEMText {
    /// Bytes under a label, in lines of 64 characters.
    public static func of(_ der: [UInt8], label: String = "CERTIFICATE") -> String {
        let base64 = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
    }
}
