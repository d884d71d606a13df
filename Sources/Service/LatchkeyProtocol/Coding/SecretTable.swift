// SPDX-License-Identifier: Apache-2.0

package import SecretMemory

/// Collects the secrets of a frame that is being encoded.
package struct SecretCollector {
    package private(set) var secrets: [SharedSecret] = []

    package init() {}

    /// Appends a secret, and returns its index in the frame.
    package mutating func append(_ secret: SharedSecret) -> UInt32 {
        secrets.append(secret)
        return UInt32(secrets.count - 1)
    }
}

/// The secrets of a frame that is being decoded. The message must refer to each of them exactly
/// once.
package struct SecretTable {
    private var secrets: [SharedSecret?]

    package init(_ secrets: [SharedSecret]) {
        self.secrets = secrets
    }

    package mutating func take(_ index: UInt32) throws(WireError) -> SharedSecret {
        guard Int(index) < secrets.count, let secret = secrets[Int(index)] else {
            throw .malformed("secret \(index) does not exist, or is referred to twice")
        }
        secrets[Int(index)] = nil
        return secret
    }

    package func requireAllTaken() throws(WireError) {
        guard secrets.allSatisfy({ $0 == nil }) else {
            throw .malformed("the message does not refer to every secret")
        }
    }
}
