// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import OpenSSLCrypto

/// The fields of an enrolled set, each with its length, so that no two sets have the same encoding.
struct SetEncoding {
    private var bytes: [UInt8] = []

    /// - Parameter domain: the kind of the fields; encodings of two domains differ.
    init(domain: String) { append(Array(domain.utf8)) }

    /// Appends the length as eight bytes, big-endian, and the field.
    mutating func append(_ field: [UInt8]) {
        bytes.append(bigEndian: UInt64(field.count))
        bytes += field
    }

    /// Returns the set with SHA-256 of the encoding as its digest.
    func enrolledSet(_ source: EnrolledSet.Source) throws(EnrolledSetError) -> EnrolledSet {
        guard let set = EnrolledSet(digest: try Self.digest(of: bytes), source: source) else {
            throw .failed("SHA-256 has another length than the digest of an enrolled set")
        }
        return set
    }

    /// SHA-256.
    static func digest(of bytes: [UInt8]) throws(EnrolledSetError) -> [UInt8] {
        var result = Result<[UInt8], OpenSSLError>.success([])
        bytes.withUnsafeBytes { buffer in
            result = Result { () throws(OpenSSLError) in try HashFunction.sha256.digest(of: buffer) }
        }
        do throws(OpenSSLError) {
            return try result.get()
        } catch {
            throw .failed("\(error)")
        }
    }
}
