// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// The data types of SSH (RFC 4251, section 5), read from borrowed memory.
struct SSHReader {
    private var fields: FieldReader<Slice<UnsafeRawBufferPointer>>

    init(_ bytes: UnsafeRawBufferPointer) {
        fields = FieldReader(bytes)
    }

    var remaining: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: fields.rest) }

    mutating func take(_ count: Int) throws(KeychainError) -> UnsafeRawBufferPointer {
        guard let bytes = fields.memory(count) else { throw Self.malformed }
        return bytes
    }

    mutating func number() throws(KeychainError) -> UInt32 {
        guard let number: UInt32 = fields.number() else { throw Self.malformed }
        return number
    }

    mutating func string() throws(KeychainError) -> UnsafeRawBufferPointer {
        try take(Int(try number()))
    }

    mutating func name() throws(KeychainError) -> String {
        let bytes = try string()
        guard bytes.count <= 64 else { throw Self.malformed }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a non-negative number, without its leading zero.
    mutating func integer() throws(KeychainError) -> UnsafeRawBufferPointer {
        let bytes = try string()
        guard let first = bytes.first else { return bytes }
        guard first < 0x80 else { throw Self.malformed }
        guard first == 0 else { return bytes }
        guard bytes.count > 1, bytes[1] >= 0x80 else { throw Self.malformed }
        return UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    }

    static let malformed = KeychainError(.param, "the OpenSSH key is malformed")
}

/// Writes the data types of SSH. Lengths are computed first, so that secrets are written once, into
/// secret memory.
struct SSHWriter {
    private var parts: [Part] = []

    private enum Part {
        case plain([UInt8])
        case secret(SharedSecret)

        var count: Int {
            switch self {
            case .plain(let bytes): bytes.count
            case .secret(let secret): secret.count
            }
        }
    }

    var count: Int { parts.reduce(0) { $0 + $1.count } }

    mutating func write(_ bytes: some Sequence<UInt8>) { parts.append(.plain(Array(bytes))) }
    mutating func write(number: Int) {
        write(UInt32(truncatingIfNeeded: number).bigEndianBytes)
    }
    mutating func write(string: some Collection<UInt8>) {
        write(number: string.count)
        write(string)
    }

    mutating func write(string secret: SharedSecret) {
        write(number: secret.count)
        parts.append(.secret(secret))
    }

    mutating func write(string other: SSHWriter) {
        write(number: other.count)
        parts += other.parts
    }

    /// Writes a non-negative number: one leading zero if its highest bit is set, and no other.
    mutating func write(integer secret: SharedSecret) {
        let (zeros, first) = secret.withUnsafeBytes { ($0.prefix { $0 == 0 }.count, $0.first { $0 != 0 } ?? 0) }
        let pad = first >= 0x80 ? 1 : 0
        write(
            string: SharedSecret(
                SecretBytes(count: secret.count - zeros + pad) { buffer in
                    secret.withUnsafeBytes {
                        UnsafeMutableRawBufferPointer(rebasing: buffer[pad...]).copyMemory(
                            from: UnsafeRawBufferPointer(rebasing: $0[zeros...]))
                    }
                }))
    }

    func bytes() -> SharedSecret {
        SharedSecret(
            SecretBytes(count: count) { buffer in
                var rest = buffer[...]
                for part in parts {
                    let target = UnsafeMutableRawBufferPointer(rebasing: rest.prefix(part.count))
                    rest = rest.dropFirst(part.count)
                    switch part {
                    case .plain(let bytes): target.copyBytes(from: bytes)
                    case .secret(let secret): secret.withUnsafeBytes { target.copyMemory(from: $0) }
                    }
                }
            })
    }
}
