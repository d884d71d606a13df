// SPDX-License-Identifier: Apache-2.0

/// What the person has allowed a program for good: to read an item, or every item, by the Secret
/// Service without a question.
public struct Consent: Hashable, Sendable {
    public let program: ProgramPath
    public let scope: Scope

    /// What the program may read.
    public enum Scope: Hashable, Sendable {
        case everyItem
        /// The item with these bytes as its identifier in the Secret Service: in a keychain, those of
        /// its persistent reference.
        case item([UInt8])
    }

    public init(_ program: ProgramPath, _ scope: Scope) { (self.program, self.scope) = (program, scope) }
}

// MARK: Coding

extension Consent {
    /// The text that a keychain stores, a different one for each consent: `*` or the identifier in
    /// hexadecimal digits, a space, and the path.
    package var encoded: String {
        switch scope {
        case .everyItem: "\(Self.everyItem) \(program.text)"
        case .item(let bytes): "\(Self.hexadecimal(bytes)) \(program.text)"
        }
    }

    /// Returns nil for a text that ``encoded`` does not write.
    package init?(decoding text: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let first = parts.first, let program = parts.last.flatMap({ ProgramPath(String($0)) })
        else { return nil }
        if first == Self.everyItem {
            self.init(program, .everyItem)
            return
        }
        guard let bytes = Self.bytes(of: String(first)), !bytes.isEmpty else { return nil }
        self.init(program, .item(bytes))
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined()
    }

    /// Returns nil for a text that ``hexadecimal(_:)`` does not write.
    private static func bytes(of text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = ArraySlice(text.utf8)
        while let high = rest.popFirst() {
            guard let low = rest.popFirst(), let byte = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
        }
        return hexadecimal(bytes) == text ? bytes : nil
    }

    private static let everyItem = "*"
}
