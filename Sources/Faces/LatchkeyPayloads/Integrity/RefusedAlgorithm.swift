// SPDX-License-Identifier: Apache-2.0

/// Why the name of an algorithm is refused where authenticity is needed.
enum RefusedAlgorithm {
    static func reason(_ name: String) -> String {
        let name = name.lowercased()
        return switch name {
        case "md5", "sha", "sha-1", "sha1", "sha-224", "sha224", "sha-256", "sha256", "sha-384", "sha384", "sha-512",
            "sha512", "crc32", "crc32c", "unixsum", "unixcksum", "adler":
            "a hash has no key, so that anyone can compute it again after a change"
        case _ where name.contains("md5"): "MD5 is broken"
        case _ where name.contains("sha1") || name.contains("sha-1"): "SHA-1 is broken"
        case "rsa-v1_5-sha256": "PKCS #1 v1.5 is a legacy padding; rsa-pss-sha512 replaces it"
        case "hs2019": "the name does not identify an algorithm"
        case "none", "": "a message without a signature is not authentic"
        default: "it is not supported"
        }
    }

    /// The name for a message, of at most 40 characters.
    static func shortened(_ name: String) -> String {
        name.utf8.count <= 40 ? name : String(name.prefix(40)) + "…"
    }
}
