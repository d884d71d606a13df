// SPDX-License-Identifier: Apache-2.0

import CommonCrypto

/// The result of a function of CommonCryptor.h.
struct CipherOutcome: Equatable {
    let status: Int
    /// The bytes that `dataOutMoved` counts.
    let output: [UInt8]
    let moved: Int

    static func success(_ output: [UInt8]) -> CipherOutcome {
        CipherOutcome(status: kCCSuccess, output: output, moved: output.count)
    }

    static func failure(_ status: Int, moved: Int = 0) -> CipherOutcome {
        CipherOutcome(status: status, output: [], moved: moved)
    }

    init(status: Int, output: [UInt8], moved: Int) {
        self.status = status
        self.output = output
        self.moved = moved
    }

    /// - Parameter call: Writes to a buffer of `capacity` bytes. The bytes after it must stay
    ///   unchanged.
    init(capacity: Int, _ call: (UnsafeMutablePointer<UInt8>, Int, UnsafeMutablePointer<Int>) -> CCCryptorStatus) {
        var buffer = [UInt8](repeating: 0xee, count: capacity + 64)
        var moved = -1
        status = Int(call(&buffer, capacity, &moved))
        self.moved = moved
        let isIntact = buffer.suffix(64).allSatisfy { $0 == 0xee }
        output = status == kCCSuccess && isIntact ? Array(buffer.prefix(max(moved, 0))) : []
    }
}

/// Calls `CCCrypt` with named arguments.
func crypt(
    _ operation: Int, _ input: [UInt8], key: [UInt8], iv: [UInt8]? = nil, algorithm: Int = kCCAlgorithmAES,
    options: Int = kCCOptionPKCS7Padding, capacity: Int? = nil
) -> CipherOutcome {
    CipherOutcome(capacity: capacity ?? input.count + 16) { output, capacity, moved in
        CCCrypt(
            CCOperation(operation), CCAlgorithm(algorithm), CCOptions(options), key, key.count, iv, input, input.count,
            output,
            capacity, moved)
    }
}

/// A context that is released together with the object.
final class Cryptor {
    private(set) var reference: CCCryptorRef?
    let status: Int

    init(
        _ operation: Int, key: [UInt8], iv: [UInt8]? = nil, algorithm: Int = kCCAlgorithmAES,
        options: Int = kCCOptionPKCS7Padding
    ) {
        status = Int(
            CCCryptorCreate(
                CCOperation(operation), CCAlgorithm(algorithm), CCOptions(options), key, key.count, iv, &reference))
    }

    init(
        _ operation: Int, mode: Int, key: [UInt8], iv: [UInt8]? = nil, algorithm: Int = kCCAlgorithmAES,
        padding: Int = ccNoPadding
    ) {
        status = Int(
            CCCryptorCreateWithMode(
                CCOperation(operation), CCMode(mode), CCAlgorithm(algorithm), CCPadding(padding), iv, key, key.count,
                nil, 0, 0,
                CCModeOptions(kCCModeOptionCTR_BE), &reference))
    }

    deinit { CCCryptorRelease(reference) }

    /// - Parameter capacity: The capacity of the output; by default the result of
    ///   ``outputLength(for:final:)``.
    func update(_ input: [UInt8], capacity: Int? = nil) -> CipherOutcome {
        CipherOutcome(capacity: capacity ?? outputLength(for: input.count, final: false)) { output, capacity, moved in
            CCCryptorUpdate(reference, input, input.count, output, capacity, moved)
        }
    }

    func final(capacity: Int = 16) -> CipherOutcome {
        CipherOutcome(capacity: capacity) { CCCryptorFinal(reference, $0, $1, $2) }
    }

    func outputLength(for count: Int, final: Bool) -> Int {
        CCCryptorGetOutputLength(reference, count, final)
    }

    /// Returns the output of a whole message in parts; nil if a call fails.
    func run(_ parts: [[UInt8]]) -> [UInt8]? {
        var output: [UInt8] = []
        for part in parts {
            let outcome = update(part)
            guard outcome.status == kCCSuccess else { return nil }
            output += outcome.output
        }
        let outcome = final()
        return outcome.status == kCCSuccess ? output + outcome.output : nil
    }
}
