// SPDX-License-Identifier: Apache-2.0

/// The identifier of an application in a sandbox, as xdg-desktop-portal reports it:
/// `org.example.App`, `snap.example`, or empty for a program outside of sandboxes.
public struct ApplicationID: Hashable, Sendable {
    public let text: String

    /// Returns nil for other characters than letters, digits, `.`, `_` and `-`, and for more than 255
    /// of them.
    public init?(_ text: String) {
        guard text.utf8.count <= 255, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    /// The access group of the application: that of its sandbox. The portal names the applications of
    /// snap with their prefix. Programs outside of sandboxes have the shared one.
    public var accessGroup: String {
        if text.isEmpty { return "latchkey.shared" }
        return text.hasPrefix("snap.") ? text : "flatpak.\(text)"
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".-_".utf8.contains(byte)
        }
    }
}
