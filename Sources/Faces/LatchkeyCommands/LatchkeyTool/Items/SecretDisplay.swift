// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// How a secret is shown: byte for byte to a pipe, as text on a terminal, as a member of JSON.
enum SecretDisplay {
    /// Stands for a secret of any length.
    static let mask = "********"

    /// Writes a secret to standard output. On a terminal a line end follows, unless the secret ends
    /// with one.
    ///
    /// - Throws: errSecParam if standard output is a terminal and the secret is not text, because
    ///   the terminal would obey it.
    static func write(_ secret: SharedSecret, in session: CommandSession) throws(CommandFailure) {
        guard session.io.isOutputInteractive else { return try session.writeSecret(secret.copy(), to: .output) }
        guard isText(secret) else {
            throw .parameter(
                "the secret has control characters or is not UTF-8, and is not shown on a terminal",
                hint: "write it to a file or a pipe: latchkey get … > FILE")
        }
        try session.writeSecret(secret.copy(), to: .output)
        let endsLine = secret.withUnsafeBytes { $0.last == UInt8(ascii: "\n") }
        if !endsLine { try session.write("\n") }
    }

    /// Returns whether a secret is UTF-8 and consists of characters that a terminal only displays,
    /// line feeds and tabs.
    static func isText(_ secret: SharedSecret) -> Bool {
        secret.withUnsafeBytes { bytes in
            var decoder = UTF8()
            var rest = bytes.makeIterator()
            while true {
                switch decoder.decode(&rest) {
                case .scalarValue(let scalar):
                    guard scalar == "\n" || scalar == "\t" || PrintableText.isPrintable(scalar) else { return false }
                case .emptyInput: return true
                case .error: return false
                }
            }
        }
    }

    /// Writes a report as JSON, with the secret as its last member: `secret` if it is UTF-8,
    /// otherwise `secretBase64`.
    static func write(_ report: some Encodable, with secret: SharedSecret, in session: CommandSession)
        throws(CommandFailure)
    {
        let report = try JSONText.of(report).string
        let head = report.dropLast("\n}\n".count)
        try session.writeSecret(SecretJSON.document(after: String(head), secret), to: .output)
    }
}
