// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// The stored record of wrong passcodes: 96 bytes. The last 32 are HMAC-SHA256 of the first 64 under a key derived from
/// the device key.
struct AttemptRecord: Equatable {
    /// The wrong passcodes since the last right one. The passcode that is being verified is already
    /// counted.
    var count: UInt32 = 0
    /// Identifies the last wrong passcode, so that a repetition is not counted again.
    var lastTag: UInt16 = 0
    /// Whether that passcode was found wrong. It is not while it is being verified, because that can be interrupted;
    /// recorded only with hardware that counts.
    var isKnownWrong = false
    /// The boot identifier when the last wrong passcode was entered: up to 36 characters.
    var bootIdentifier: [UInt8] = []
    /// When the last wrong passcode was entered, on the clock of that boot, in nanoseconds.
    var time: UInt64 = 0

    /// The seconds that must pass before the next attempt (keychain-behaviour §5.2).
    var delay: Int {
        switch count {
        case 0...4: 0
        case 5: 60
        case 6: 300
        case 7, 8: 900
        default: 3600
        }
    }

    /// The number of wrong passcodes until the protected keys are destroyed, if ``KeybagSettings/wipesAfterTen`` is
    /// set.
    static let wipeCount = 10

    func encoded(authenticatedBy key: borrowing SecretBytes) -> [UInt8] {
        var bytes = Self.magic
        bytes.append(bigEndian: count)
        bytes.append(bigEndian: lastTag)
        bytes.append(bigEndian: time)
        bytes += bootIdentifier.prefix(Self.bootLength)
        bytes += Array(repeating: 0, count: Self.knownWrongOffset - bytes.count)
        bytes.append(isKnownWrong ? 1 : 0)
        bytes += Array(repeating: 0, count: Self.length - bytes.count)
        return bytes + KeybagCryptography.authenticationCode(of: bytes, key: key)
    }

    init() {}

    init(decoding bytes: [UInt8], authenticatedBy key: borrowing SecretBytes) throws(KeybagError) {
        let content = Array(bytes.prefix(Self.length))
        guard bytes.count == Self.length + 32, content.starts(with: Self.magic),
            KeybagCryptography.isValid(Array(bytes.dropFirst(Self.length)), of: content, key: key)
        else { throw .attemptsDamaged }
        var fields = FieldReader(content.dropFirst(Self.magic.count))
        guard let count: UInt32 = fields.number(), let lastTag: UInt16 = fields.number(),
            let time: UInt64 = fields.number(), let boot = fields.bytes(Self.bootLength),
            let knownWrong: UInt8 = fields.number()
        else { throw .attemptsDamaged }
        (self.count, self.lastTag, self.time) = (count, lastTag, time)
        isKnownWrong = knownWrong != 0
        bootIdentifier = Array(boot.prefix { $0 != 0 })
    }

    /// "LKATTM", then version 1 as a 16-bit number.
    private static let magic: [UInt8] = Array("LKATTM".utf8) + [0, 1]
    private static let bootLength = 36
    private static let knownWrongOffset = 58
    private static let length = 64
}
