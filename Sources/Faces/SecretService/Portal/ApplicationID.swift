// SPDX-License-Identifier: Apache-2.0

internal import SystemBus

/// The identifier of an application in a sandbox, as xdg-desktop-portal reports it:
/// `org.example.App` or `snap.example`.
public struct ApplicationID: Hashable, Sendable {
    public let text: String

    /// Returns nil unless the text is the name of a snap after
    /// `snap.`, or has the form of the identifiers of Flatpak and of desktop entries. That is the form of a bus name: two or more elements of letters, digits, `_`
    /// and `-`, separated by dots, that do not begin with a digit.
    public init?(_ text: String) {
        guard text.utf8.count <= 255 else { return nil }
        if text.hasPrefix(Self.snapPrefix) {
            let name = text.dropFirst(Self.snapPrefix.count)
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isAllowedInSnap) else { return nil }
        } else {
            guard let name = try? BusName(validating: text), !name.isUnique else { return nil }
        }
        self.text = text
    }

    /// The access group of the application: that of its sandbox. The portal names the applications of
    /// snap with their prefix.
    public var accessGroup: String { text.hasPrefix(Self.snapPrefix) ? text : "flatpak.\(text)" }

    private static let snapPrefix = "snap."

    /// A name of letters, digits and `-`, and optionally `_` and the key of an instance.
    private static func isAllowedInSnap(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_".utf8.contains(byte)
        }
    }
}
