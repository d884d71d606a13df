// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
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
        var fields = FieldReader(bytes)
        guard fields.array(Self.magic.count) == Self.magic, let version: UInt8 = fields.number(),
            let modeCode: UInt8 = fields.number(), let identifier: UInt16 = fields.number(), fields.isAtEnd
        else { throw Self.notABox }
        guard version == Self.version else {
            throw KeychainError(
                .unimplemented, "the payload box has version \(version), expected \(Self.version)",
                hint: "update Latchkey")
        }
        guard let mode = HPKEContext.Mode(rawValue: modeCode) else {
            throw KeychainError(.unimplemented, "the payload box has the unsupported mode \(modeCode)")
        }
        self.init(try PayloadSuite(identifier: identifier), mode)
        guard mode == .base || suite.authenticatesSenders else {
            throw KeychainError(.unimplemented, "\(suite) cannot authenticate a sender")
        }
    }

    var bytes: [UInt8] {
        let identifier = suite.encapsulation.rawValue
        return Self.magic + [Self.version, mode.rawValue] + identifier.bigEndianBytes
    }

    static let notABox = KeychainError(.decode, "the data is not a payload box")
}
