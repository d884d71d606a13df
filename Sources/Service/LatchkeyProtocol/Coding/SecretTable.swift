// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// Collects the secrets of a frame that is being encoded.
struct SecretCollector {
    private(set) var secrets: [SharedSecret] = []

    /// Appends a secret, and returns its index in the frame.
    mutating func append(_ secret: SharedSecret) -> UInt32 {
        secrets.append(secret)
        return UInt32(secrets.count - 1)
    }
}

/// The secrets of a frame that is being decoded. The message must refer to each of them exactly
/// once.
struct SecretTable {
    private var secrets: [SharedSecret?]

    init(_ secrets: [SharedSecret]) {
        self.secrets = secrets
    }

    mutating func take(_ index: UInt32) throws(WireError) -> SharedSecret {
        guard Int(index) < secrets.count, let secret = secrets[Int(index)] else {
            throw .malformed("secret \(index) does not exist, or is referred to twice")
        }
        secrets[Int(index)] = nil
        return secret
    }

    func requireAllTaken() throws(WireError) {
        guard secrets.allSatisfy({ $0 == nil }) else {
            throw .malformed("the message does not refer to every secret")
        }
    }
}
