// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretMemory

/// What is remembered of wrong passcodes: 96 bytes, of which the last 32 are HMAC-SHA256 of the others under a key from the device key.
struct AttemptRecord: Equatable {
    /// The wrong passcodes since the last right one; the one that is being judged is counted already.
    var count: UInt32 = 0
    /// Recognises the last wrong one.
    var lastTag: UInt16 = 0
    /// The boot in which it was given: up to 36 characters.
    var bootIdentifier: [UInt8] = []
    /// When it was given, on the clock of that boot, in nanoseconds.
    var time: UInt64 = 0

    /// The seconds that must pass before the next one (keychain-behaviour §5.2).
    var delay: Int {
        switch count {
        case 0...4: 0
        case 5: 60
        case 6: 300
        case 7, 8: 900
        default: 3600
        }
    }

    /// How many wrong passcodes destroy what the passcode protects, where the settings say so.
    static let wipeCount = 10

    func encoded(authenticatedBy key: borrowing SecretBytes) -> [UInt8] {
        var bytes = Self.magic
        bytes.append(bigEndian: count)
        bytes.append(bigEndian: lastTag)
        bytes.append(bigEndian: time)
        bytes += bootIdentifier.prefix(Self.bootLength)
        bytes += Array(repeating: 0, count: Self.length - bytes.count)
        return bytes + KeybagCryptography.authenticationCode(of: bytes, key: key)
    }

    init() {}

    init(decoding bytes: [UInt8], authenticatedBy key: borrowing SecretBytes) throws(KeybagError) {
        let content = Array(bytes.prefix(Self.length))
        guard bytes.count == Self.length + 32, content.starts(with: Self.magic),
            KeybagCryptography.isValid(Array(bytes.dropFirst(Self.length)), of: content, key: key)
        else { throw .attemptsDamaged }
        func number(_ range: Range<Int>) -> UInt64 { content[range].reduce(0) { $0 << 8 | UInt64($1) } }
        count = UInt32(number(8..<12))
        lastTag = UInt16(number(12..<14))
        time = number(14..<22)
        bootIdentifier = Array(content[22..<22 + Self.bootLength].prefix { $0 != 0 })
    }

    /// "LKATTM", version 1.
    private static let magic: [UInt8] = Array("LKATTM".utf8) + [0, 1]
    private static let bootLength = 36
    private static let length = 64
}
