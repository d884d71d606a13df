// SPDX-License-Identifier: Apache-2.0

extension SharedSecret {
    /// Concatenates the bytes of several secrets.
    public convenience init(joining secrets: [SharedSecret]) {
        self.init(
            SecretBytes(count: secrets.reduce(0) { $0 + $1.count }) { buffer in
                var rest = buffer[...]
                for secret in secrets {
                    secret.withUnsafeBytes {
                        UnsafeMutableRawBufferPointer(rebasing: rest.prefix(secret.count)).copyMemory(from: $0)
                    }
                    rest = rest.dropFirst(secret.count)
                }
            })
    }
}
