// SPDX-License-Identifier: Apache-2.0

/// The contents of a keyring of gnome-keyring.
public struct GnomeKeyring: Sendable, Equatable {
    /// The name that the user sees; empty for none.
    public var label: String
    /// In seconds since 1970; 0 if it is unknown.
    public var created: UInt64
    /// In seconds since 1970; 0 if it is unknown.
    public var modified: UInt64
    /// The items, in the order of the file.
    public var items: [GnomeKeyringItem]

    /// gnome-keyring writes the two times of a keyring in one order and reads them in the other, so that a file
    /// may have them either way; one of them is often 0.
    init(label: String?, times: (UInt64, UInt64), items: [GnomeKeyringItem]) {
        self.label = label ?? ""
        (created, modified) = times.0 < times.1 ? times : (times.1, times.0)
        if created == 0 { created = modified }
        self.items = items
    }
}
