// SPDX-License-Identifier: Apache-2.0

public import Keybag

/// A position in the audit log: the number and the authentication code of the last line before it,
/// and the key of the line after it.
public struct AuditPosition: ~Copyable, Sendable {
    public var sequence: UInt64
    public var code: [UInt8]
    public var key: AuditKey

    public init(sequence: UInt64, code: [UInt8], key: consuming AuditKey) {
        self.sequence = sequence
        self.code = code
        self.key = key
    }

    public borrowing func copy() -> AuditPosition {
        AuditPosition(sequence: sequence, code: code, key: key.copy())
    }

    /// The start position of a new log.
    public static func first() -> AuditPosition {
        AuditPosition(sequence: 0, code: [UInt8](repeating: 0, count: 32), key: .random())
    }
}
