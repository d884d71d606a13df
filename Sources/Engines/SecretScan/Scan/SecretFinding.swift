// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import LinuxSystem

/// A secret that lies in the clear.
public struct SecretFinding: Hashable, Sendable {
    public let kind: SecretKind
    public let place: ScanPlace
    /// The name of the value, such as `db_password`; empty if it has none.
    public let name: String
    /// The first and the last characters of the secret; the others are replaced by `…`.
    public let masked: String
    /// Identifies the finding wherever in its file it is: 64 hexadecimal digits. It changes with the kind, the names, and
    /// in 255 of 256 cases with the secret. A list of fingerprints does not help to guess secrets: it depends on eight
    /// bits of a hash of each.
    public let fingerprint: String
    public let replacement: SecretReplacement

    init(
        _ kind: SecretKind, _ place: ScanPlace, name: String, secret: ArraySlice<UInt8>,
        _ replacement: SecretReplacement
    ) {
        (self.kind, self.place, self.name, self.replacement) = (kind, place, name, replacement)
        masked = Self.mask(secret)
        let evidence = Hexadecimal.text(SHA256.hash(data: Array(secret)).prefix(1))
        fingerprint = Self.fingerprint([kind.id] + place.names + [name, evidence])
    }

    /// A fingerprint of parts: 64 hexadecimal digits.
    public static func fingerprint(_ parts: [String]) -> String {
        Hexadecimal.text(SHA256.hash(data: Array(parts.joined(separator: "\0").utf8)))
    }

    /// Shows at most a quarter of a secret.
    private static func mask(_ secret: ArraySlice<UInt8>) -> String {
        let shown = min(4, secret.count / 8)
        guard shown > 0, secret.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { return "…" }
        return String(decoding: secret.prefix(shown), as: UTF8.self) + "…"
            + String(decoding: secret.suffix(shown), as: UTF8.self)
    }
}

/// Where a text is: the file, the documents in it, and the encodings of a part.
public struct ScanPlace: Hashable, Sendable {
    /// The file, and in it the names of the documents in each other.
    public let names: [String]
    /// The encodings that were undone, the outermost first.
    public let encodings: [String]
    /// From 1, in the innermost document.
    public let line: Int
    /// From 1, in bytes.
    public let column: Int

    public init(_ name: String, line: Int = 1, column: Int = 1) {
        self.init(names: [name], encodings: [], line: line, column: column)
    }

    init(names: [String], encodings: [String], line: Int, column: Int) {
        (self.names, self.encodings, self.line, self.column) = (names, encodings, line, column)
    }

    func inside(_ name: String) -> ScanPlace {
        ScanPlace(names: names + [name], encodings: encodings, line: 1, column: 1)
    }

    func decoded(from encoding: String) -> ScanPlace {
        ScanPlace(names: names, encodings: encodings + [encoding], line: line, column: column)
    }

    /// The place behind these bytes of the text.
    public func advanced(over bytes: some Sequence<UInt8>) -> ScanPlace {
        guard encodings.isEmpty else { return self }
        var (line, column) = (line, column)
        for byte in bytes { (line, column) = byte == 0x0A ? (line + 1, 1) : (line, column + 1) }
        return at(line: line, column: column)
    }

    /// A position in the text here. A text that was decoded keeps the position of its encoded form.
    func at(line: Int, column: Int) -> ScanPlace {
        encodings.isEmpty ? ScanPlace(names: names, encodings: [], line: line, column: column) : self
    }
}

/// A part of a file that was not scanned.
public struct ScanProblem: Hashable, Sendable {
    public let names: [String]
    /// A sentence without the place.
    public let reason: String

    public init(names: [String], reason: String) { (self.names, self.reason) = (names, reason) }
}
