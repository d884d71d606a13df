// SPDX-License-Identifier: Apache-2.0

/// Why a file is not read as a keyring.
public enum GnomeKeyringError: Error, Equatable, Sendable {
    /// It begins like neither format.
    case unrecognized
    /// It has a version, a cipher or a hash function that this reader does not have.
    case unsupported(version: [UInt8])
    /// The file, or the number of its lines, exceeds the limit.
    case tooLarge(count: Int, max: Int)
    /// It requires more iterations of the key derivation than the limit.
    case tooManyIterations(count: UInt32, max: UInt32)
    /// It is encrypted, and no password was given.
    case passwordNeeded
    /// The password does not open it, or the encrypted part was changed: the format cannot distinguish these.
    case wrongPassword
    case damaged(String)
}

extension GnomeKeyringError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unrecognized: "it is not a keyring of gnome-keyring"
        case .unsupported(let version):
            "expected a keyring of version 0.0 with AES and MD5, found the numbers "
                + version.map { "\($0)" }.joined(separator: ", ")
        case .tooLarge(let count, let max): "it has a size of \(count), expected at most \(max)"
        case .tooManyIterations(let count, let max):
            "its key derivation has \(count) iterations, expected 1 to \(max)"
        case .passwordNeeded: "it is encrypted; its password is needed"
        case .wrongPassword: "the password does not open it, or it is damaged"
        case .damaged(let problem): "it is damaged: \(problem)"
        }
    }
}
