// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// The secrets of a frame that is being written.
struct SecretCollector {
    private(set) var secrets: [SharedSecret] = []

    /// The place of a secret in the frame.
    mutating func append(_ secret: SharedSecret) -> UInt32 {
        secrets.append(secret)
        return UInt32(secrets.count - 1)
    }
}

/// The secrets of a frame that was read: each is named by the message exactly once.
struct SecretTable {
    private var secrets: [SharedSecret?]

    init(_ secrets: [SharedSecret]) {
        self.secrets = secrets
    }

    mutating func take(_ index: UInt32) throws(WireError) -> SharedSecret {
        guard Int(index) < secrets.count, let secret = secrets[Int(index)] else {
            throw .malformed("there is no secret \(index), or it is named twice")
        }
        secrets[Int(index)] = nil
        return secret
    }

    func requireAllTaken() throws(WireError) {
        guard secrets.allSatisfy({ $0 == nil }) else {
            throw .malformed("a secret came that the message does not name")
        }
    }
}
