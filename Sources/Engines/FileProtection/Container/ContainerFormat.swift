// SPDX-License-Identifier: Apache-2.0

/// The constants of all formats of protected files. Documentation/Formats/protected-file.md specifies them.
public enum ContainerFormat {
    /// The newest version. New files have it.
    public static let version = ContainerLayout.latest.version
    /// The most bytes of content that any version seals together.
    public static let maxChunkSize = 65_536
    /// The longest content, in bytes: 256 TiB.
    public static let maxLength: UInt64 = 1 << 48
    /// The longest metadata, in bytes.
    public static let maxMetadataLength = 512

    static let magic = Array("LATCHKEY".utf8)
    /// The length of one of the two headers: a block of the storage device, so that an interrupted
    /// write never damages both.
    static let headerLength = 4096
    /// Where the slots begin.
    static let slotsOffset = 2 * headerLength
    /// AES-GCM with random nonces: at most 2³² messages under one key (SP 800-38D, section 8.3). Half of them, because
    /// the encryptions of a killed process since its last commit are not counted.
    static let maxSeals: UInt64 = 1 << 31
}
