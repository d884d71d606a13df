// SPDX-License-Identifier: Apache-2.0

/// The limits on the cost of a keyring for its reader. The time and the memory beyond these are linear in the size of
/// the file.
public enum KeyringLimits {
    /// In bytes. A keyring of some thousand items has one million.
    public static let maxFileSize = 16 << 20
    /// gnome-keyring writes 1,000 to 5,000.
    public static let maxIterations: UInt32 = 1 << 20
    /// The lines of a file in the plain format.
    public static let maxLines = 1 << 20
}
