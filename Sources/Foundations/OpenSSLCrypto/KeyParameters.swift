// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import SecretMemory

/// The parts of a key as libcrypto's parameters (OSSL_PARAM(3)), with numbers in native byte order.
/// They are in secret memory while libcrypto reads them.
struct KeyParameters {
    fileprivate struct Part {
        enum Kind { case number, octets, text }

        let name: StaticString
        let kind: Kind
        let bytes: UnsafeRawBufferPointer
    }

    private var parts: [Part] = []

    /// Adds a number, big-endian.
    mutating func add(_ name: StaticString, number: UnsafeRawBufferPointer) {
        parts.append(Part(name: name, kind: .number, bytes: number))
    }

    mutating func add(_ name: StaticString, octets: UnsafeRawBufferPointer) {
        parts.append(Part(name: name, kind: .octets, bytes: octets))
    }

    mutating func add(_ name: StaticString, text: StaticString) {
        // With the terminating zero that libcrypto needs.
        let bytes = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount + 1)
        parts.append(Part(name: name, kind: .text, bytes: bytes))
    }

    /// Calls `body` with the parts in libcrypto's form.
    func withParameters<Made>(
        _ body: (UnsafeMutablePointer<OSSL_PARAM>) throws(OpenSSLError) -> Made
    ) throws(OpenSSLError) -> Made {
        let memory = SecretBuffer(count: parts.reduce(1) { $0 + $1.bytes.count })
        return try memory.withUnsafeMutableBytes { (buffer) throws(OpenSSLError) in
            var list: [OSSL_PARAM] = []
            var start = 0
            for part in parts {
                let own = UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + part.bytes.count])
                start += own.count
                list.append(part.parameter(in: own))
            }
            list.append(OSSL_PARAM_construct_end())
            var outcome = Result<Made, OpenSSLError>.failure(OpenSSLError(message: "the key has no parts"))
            list.withUnsafeMutableBufferPointer { list in
                guard let start = list.baseAddress else { return }
                outcome = Result { () throws(OpenSSLError) in try body(start) }
            }
            return try outcome.get()
        }
    }
}

extension KeyParameters.Part {
    /// Copies the part into `memory` and returns its libcrypto parameter.
    fileprivate func parameter(in memory: UnsafeMutableRawBufferPointer) -> OSSL_PARAM {
        let key = name.characters
        switch kind {
        case .number:
            memory.copyBytes(
                from: Int(littleEndian: 1) == 1
                    ? AnyRandomAccessCollection(bytes.reversed()) : AnyRandomAccessCollection(bytes))
            return OSSL_PARAM_construct_BN(key, memory.assumingMemoryBound(to: UInt8.self).baseAddress, memory.count)
        case .octets:
            memory.copyMemory(from: bytes)
            return OSSL_PARAM_construct_octet_string(key, memory.baseAddress, memory.count)
        case .text:
            memory.copyMemory(from: bytes)
            return OSSL_PARAM_construct_utf8_string(
                key, memory.assumingMemoryBound(to: CChar.self).baseAddress, memory.count - 1)
        }
    }
}
