// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SecretMemory

/// A type that can hold a secret. ``SharedSecret`` never leaves secret memory; the caller remains
/// responsible for secrets in `Data`, `String` or `[UInt8]`.
public protocol SecretConvertible {
    /// Returns the bytes in secret memory.
    func sharedSecret() -> SharedSecret
}

extension SharedSecret: SecretConvertible {
    /// Returns this object.
    public func sharedSecret() -> SharedSecret { self }
}

extension Data: SecretConvertible {
    /// Copies the bytes into secret memory.
    public func sharedSecret() -> SharedSecret {
        SharedSecret(SecretBytes(count: count) { buffer in _ = copyBytes(to: buffer) })
    }
}

extension String: SecretConvertible {
    /// Returns the UTF-8 encoding of the text.
    public func sharedSecret() -> SharedSecret { SharedSecret(copying: utf8) }
}

extension [UInt8]: SecretConvertible {
    /// Copies the bytes into secret memory.
    public func sharedSecret() -> SharedSecret { SharedSecret(copying: self) }
}
