// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

extension AccessGroup {
    /// The own group of a program that declares no identity: `program.NAME`, with the file name of its executable, and
    /// that of a test bundle without `.xctest`. It is a claim, as every name of a program.
    ///
    /// - Returns: nil for a name that is empty, longer than ``maxProgramLength`` bytes, or not printable.
    public static func program(_ executable: String) -> AccessGroup? {
        let file = executable.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last ?? []
        var name = String(decoding: file, as: UTF8.self)
        if name.utf8.count > testSuffix.utf8.count, name.hasSuffix(testSuffix) {
            name.removeLast(testSuffix.count)
        }
        guard (1...maxProgramLength).contains(name.utf8.count), PrintableText(name).string == name else { return nil }
        return AccessGroup(programPrefix + name, grade: .claimed)
    }

    /// The name of the program with this group; nil for another group.
    public var programName: String? {
        guard grade == .claimed, name.utf8.starts(with: Self.programPrefix.utf8) else { return nil }
        let rest = String(decoding: name.utf8.dropFirst(Self.programPrefix.utf8.count), as: UTF8.self)
        return rest.isEmpty ? nil : rest
    }

    /// The maximum length of the file name of an executable with an own group, in bytes: the group is the name of a
    /// collection, too.
    public static let maxProgramLength = CollectionName.maxLength - programPrefix.utf8.count

    private static let programPrefix = "program."
    private static let testSuffix = ".xctest"
}
