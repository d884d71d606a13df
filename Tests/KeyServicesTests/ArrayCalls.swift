// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeyServices
import LinuxSystem
import SecretMemory

extension SharedSecret {
    var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

extension [UInt8] {
    init(hexadecimal text: String) {
        self = Hexadecimal.bytes(text.utf8.filter { !$0.isWhitespace }, letters: .any) ?? []
    }
}

extension UInt8 {
    fileprivate var isWhitespace: Bool { self == 0x20 || self == 0x0A }
}

extension KeyFile {
    static func read(_ bytes: [UInt8], passphrase: SharedSecret? = nil) throws(KeychainError) -> [KeyFileEntry] {
        try bytes.withUnsafeBufferPointer { (pointer) throws(KeychainError) in
            try read(UnsafeRawBufferPointer(pointer), passphrase: passphrase)
        }
    }
}

// Overloads with arrays, for tests.
extension PrivateKey {
    func signature(of input: [UInt8], _ algorithm: KeyAlgorithm) throws(KeychainError) -> [UInt8] {
        try input.withUnsafeBufferPointer { (pointer) throws(KeychainError) in
            try signature(of: UnsafeRawBufferPointer(pointer), algorithm)
        }
    }

    func decrypted(_ input: [UInt8], _ algorithm: KeyAlgorithm) throws(KeychainError) -> [UInt8] {
        try input.withUnsafeBufferPointer { (pointer) throws(KeychainError) in
            try decrypted(UnsafeRawBufferPointer(pointer), algorithm).bytes
        }
    }
}

extension PublicKey {
    static func read(_ bytes: [UInt8], _ type: KeyType) throws(KeychainError) -> PublicKey {
        try bytes.withUnsafeBufferPointer { (pointer) throws(KeychainError) in
            try PublicKey(external: UnsafeRawBufferPointer(pointer), type: type)
        }
    }

    func isSignature(_ signature: [UInt8], of input: [UInt8], _ algorithm: KeyAlgorithm) throws(KeychainError) -> Bool {
        try signature.withUnsafeBufferPointer { (signature) throws(KeychainError) in
            try input.withUnsafeBufferPointer { (input) throws(KeychainError) in
                try isSignature(UnsafeRawBufferPointer(signature), of: UnsafeRawBufferPointer(input), algorithm)
            }
        }
    }

    func encrypted(_ input: [UInt8], _ algorithm: KeyAlgorithm) throws(KeychainError) -> [UInt8] {
        try input.withUnsafeBufferPointer { (pointer) throws(KeychainError) in
            try encrypted(UnsafeRawBufferPointer(pointer), algorithm)
        }
    }
}

extension SoftwareKey {
    static func read(_ bytes: [UInt8], _ type: KeyType) throws(KeychainError) -> SoftwareKey {
        try bytes.withUnsafeBufferPointer { (pointer) throws(KeychainError) in
            try SoftwareKey(external: UnsafeRawBufferPointer(pointer), type: type)
        }
    }
}

/// Returns the status of a call that fails; 0 if it succeeds.
func status(_ body: () throws(KeychainError) -> Void) -> Int32 {
    do throws(KeychainError) {
        try body()
        return 0
    } catch {
        return error.status.rawValue
    }
}
