// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SecretMemory

/// What a secret may be given as. ``SharedSecret`` never leaves secret memory; what is given as `Data` or `String` remains the caller's.
public protocol SecretConvertible {
    /// The bytes, in secret memory.
    func sharedSecret() -> SharedSecret
}

extension SharedSecret: SecretConvertible {
    public func sharedSecret() -> SharedSecret { self }
}

extension Data: SecretConvertible {
    public func sharedSecret() -> SharedSecret {
        SharedSecret(SecretBytes(count: count) { buffer in _ = copyBytes(to: buffer) })
    }
}

extension String: SecretConvertible {
    /// The UTF-8 of the text.
    public func sharedSecret() -> SharedSecret { SharedSecret(copying: utf8) }
}
