// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
package import LinuxSystem
internal import SecretMemory

/// One word of a command line, byte for byte. An argument need not be UTF-8, and a password must
/// not be altered.
///
/// The word is kept in secret memory because any word may be a password until the options are
/// parsed.
public struct CommandWord: Equatable, Sendable {
    let secret: SharedSecret

    init(_ secret: SharedSecret) {
        self.secret = secret
    }

    public init(bytes: some Sequence<UInt8>) {
        secret = SharedSecret(copying: bytes)
    }

    public init(_ text: String) {
        self.init(bytes: text.utf8)
    }

    /// Returns the arguments of this process. The first one is its name.
    public static func ofThisProcess() -> [CommandWord] {
        ProcessArguments.map { CommandWord(SharedSecret(SecretBytes(copying: $0))) }
    }

    var count: Int { secret.count }

    subscript(position: Int) -> UInt8 { secret.withUnsafeBytes { $0[position] } }

    /// Returns the word without its first `count` bytes.
    func dropping(_ count: Int) -> CommandWord {
        CommandWord(
            secret.withUnsafeBytes {
                SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.dropFirst(count))))
            })
    }

    /// A copy in ordinary memory, for words that are not secret.
    package var bytes: [UInt8] {
        secret.withUnsafeBytes { Array($0) }
    }

    /// The word as text for messages and comparisons. Invalid UTF-8 is replaced.
    package var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the word is UTF-8.
    package var isText: Bool { secret.withUnsafeBytes { String(validating: $0, as: UTF8.self) != nil } }

    /// The word as a path, byte for byte.
    package var path: FilePath { FilePath(bytes: bytes) }

    /// The word as an attribute value: a string, or data if it is not valid UTF-8. Both match the
    /// same bytes.
    var attributeValue: AttributeValue {
        String(validating: bytes, as: UTF8.self).map(AttributeValue.string) ?? .data(bytes)
    }

    /// The last component of a path.
    var lastPathComponent: String {
        String(decoding: bytes.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
    }

    func hasPrefix(_ prefix: String) -> Bool {
        secret.withUnsafeBytes { $0.starts(with: prefix.utf8) }
    }
}

// MARK: ExpressibleByStringLiteral

extension CommandWord: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) {
        self.init(text)
    }
}
