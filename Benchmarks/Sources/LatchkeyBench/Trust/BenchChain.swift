// SPDX-License-Identifier: Apache-2.0

import CTrustFloor
import Foundation

/// Certificates for the measurements, issued with libcrypto.
struct BenchChain {
    /// The certificates; the leaf is the first and the anchor the last.
    let ders: [[UInt8]]

    static let host = "example.com"

    private final class Key {
        let pointer: UnsafeMutableRawPointer

        init(isCurve: Bool) throws {
            guard let key = floor_key_new(isCurve ? 1 : 0) else {
                throw BenchmarkFailure("libcrypto cannot generate a key")
            }
            pointer = key
        }

        deinit { floor_key_free(pointer) }
    }

    private static func certificate(
        _ subject: String, _ key: Key, by issuer: String, _ issuerKey: Key, host: String? = nil, serial: Int
    ) throws -> [UInt8] {
        var der = [UInt8](repeating: 0, count: 4096)
        let count = floor_certificate(subject, key.pointer, issuer, issuerKey.pointer, host, serial, &der, der.count)
        guard count > 0 else { throw BenchmarkFailure("libcrypto cannot issue a certificate") }
        return Array(der.prefix(count))
    }

    /// A server's certificate, an intermediate and a root.
    static func ofThree(isCurve: Bool, root: String = "root") throws -> BenchChain {
        let keys = try (0..<3).map { _ in try Key(isCurve: isCurve) }
        return BenchChain(ders: [
            try certificate("server", keys[0], by: "intermediate", keys[1], host: host, serial: 3),
            try certificate("intermediate", keys[1], by: root, keys[2], serial: 2),
            try certificate(root, keys[2], by: root, keys[2], serial: 1),
        ])
    }

    /// Returns the same certificates with the anchor of another chain (the issuer of none of them).
    func anchored(by other: BenchChain) -> BenchChain {
        BenchChain(ders: Array(ders.dropLast()) + other.ders.suffix(1))
    }

    /// The same certificates with a wrong bit in the signature of the one at `index`.
    func withInvalidSignature(at index: Int) -> BenchChain {
        var ders = ders
        // The signature is the last field of a certificate.
        ders[index][ders[index].count - 1] ^= 1
        return BenchChain(ders: ders)
    }

    /// A leaf below 14 levels of two keys each. Both keys of a level have signed both keys of the
    /// level below; the top level names the root as its issuer, but is not signed with the root's
    /// key.
    static func withoutAnchor() throws -> BenchChain {
        let levels = try (0..<15).map { _ in [try Key(isCurve: true), try Key(isCurve: true)] }
        let (root, impostor, leaf) = (try Key(isCurve: true), try Key(isCurve: true), try Key(isCurve: true))
        var ders = [try certificate("server", leaf, by: "level 0", levels[0][0], host: host, serial: 1)]
        for level in 0..<14 {
            for subject in levels[level] {
                for issuer in levels[level + 1] {
                    ders.append(
                        try certificate(
                            "level \(level)", subject, by: "level \(level + 1)", issuer, serial: ders.count + 1))
                }
            }
        }
        for subject in levels[14] {
            ders.append(try certificate("level 14", subject, by: "root", impostor, serial: ders.count + 1))
        }
        return BenchChain(ders: ders + [try certificate("root", root, by: "root", root, serial: 1)])
    }
}
