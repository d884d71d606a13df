// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// One word of a command line, byte for byte: an argument need not be UTF-8, and a password must not change on its way.
///
/// It lies in secret memory, because nobody knows of a word that it is no password before its options are understood.
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

    /// The arguments of this process, its name first.
    public static func ofThisProcess() -> [CommandWord] {
        ProcessArguments.map { CommandWord(SharedSecret(SecretBytes(copying: $0))) }
    }

    var count: Int { secret.count }

    subscript(position: Int) -> UInt8 { secret.withUnsafeBytes { $0[position] } }

    /// What follows the first `count` bytes.
    func dropping(_ count: Int) -> CommandWord {
        CommandWord(
            secret.withUnsafeBytes {
                SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.dropFirst(count))))
            })
    }

    /// A copy in ordinary memory, for words that are no secret.
    var bytes: [UInt8] {
        secret.withUnsafeBytes { Array($0) }
    }

    /// The word for a message or a comparison; what is not UTF-8 is replaced.
    var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// The word as the value of an attribute: a string, or data where it is not UTF-8. Both are found by the same bytes.
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
