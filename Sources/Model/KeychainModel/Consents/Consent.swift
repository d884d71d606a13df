// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The consent of the person: the program may permanently read an item, or every item, by the Secret Service without a
/// question.
public struct Consent: Hashable, Sendable {
    public let program: ProgramPath
    public let scope: Scope

    /// The items that the program may read.
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
        case .item(let bytes): "\(Hexadecimal.text(bytes)) \(program.text)"
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
        guard let bytes = Hexadecimal.bytes(first.utf8), !bytes.isEmpty else { return nil }
        self.init(program, .item(bytes))
    }

    private static let everyItem = "*"
}
