// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import OpenSSLCrypto

/// The start of a payload box, in the clear; Documentation/Formats/payload-box.md.
struct PayloadHeader: Sendable {
    let suite: PayloadSuite
    let mode: HPKEContext.Mode

    static let magic = Array("LKPAYBOX".utf8)
    static let version: UInt8 = 1
    /// Magic, version, mode and suite.
    static let length = magic.count + 4

    init(_ suite: PayloadSuite, _ mode: HPKEContext.Mode) {
        (self.suite, self.mode) = (suite, mode)
    }

    /// - Parameter bytes: ``length`` bytes.
    /// - Throws: errSecDecode if they are not of a payload box; errSecUnimplemented for another
    ///   version and other algorithms.
    init(_ bytes: [UInt8]) throws(KeychainError) {
        guard bytes.count == Self.length, bytes.starts(with: Self.magic) else { throw Self.notABox }
        let fields = bytes.dropFirst(Self.magic.count).map { $0 }
        guard fields[0] == Self.version else {
            throw KeychainError(
                .unimplemented, "the payload box has version \(fields[0]), expected \(Self.version)",
                hint: "update Latchkey")
        }
        guard let mode = HPKEContext.Mode(rawValue: fields[1]) else {
            throw KeychainError(.unimplemented, "the payload box has mode \(fields[1]), which is not supported")
        }
        self.init(try PayloadSuite(identifier: UInt16(fields[2]) << 8 | UInt16(fields[3])), mode)
        guard mode == .base || suite.authenticatesSenders else {
            throw KeychainError(.unimplemented, "\(suite) cannot authenticate a sender")
        }
    }

    var bytes: [UInt8] {
        let identifier = suite.encapsulation.rawValue
        return Self.magic + [Self.version, mode.rawValue, UInt8(identifier >> 8), UInt8(identifier & 0xFF)]
    }

    static let notABox = KeychainError(.decode, "the data is not a payload box")
}
