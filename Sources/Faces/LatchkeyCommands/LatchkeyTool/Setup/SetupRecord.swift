// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// The changes of `latchkey setup --apply`, in `setup.json` of the state directory, so that `--undo` undoes them, and
/// nothing else.
struct SetupRecord: Codable, Equatable {
    /// 2 with masked units or a taken place, because format 1 did not have them.
    var format = 1
    var changes: [Change] = []

    struct Change: Codable, Equatable {
        /// The name of the step.
        var step: String
        /// The file that was created; nil if it was another change.
        var file: String?
        /// The content that was written to the file: a file with another content by now stays.
        var content: String?
        /// The directories that were created for it, the outermost first.
        var directories: [String] = []
        /// The unit that was enabled.
        var unit: String?
        /// The units that were masked.
        var masked: [String]?
        /// Those of them that were active.
        var active: [String]?
        /// The program that lost its place as the Secret Service.
        var ended: String?

        /// The last change first; and the name of the Secret Service last, when the bus finds the other one again.
        static func undoOrder(_ changes: [Change]) -> [Change] {
            changes.reversed().filter { $0.ended == nil } + changes.reversed().filter { $0.ended != nil }
        }

        /// Whether both are the same change, of another attempt.
        func isSame(as other: Change) -> Bool {
            (file, unit) == (other.file, other.unit) && (masked, ended) == (other.masked, other.ended)
        }
    }

    /// Adds a change. If an earlier attempt was interrupted, the directories that were created in it are
    /// kept, and there is still one change.
    ///
    /// - Returns: the change that is in the record.
    mutating func add(_ change: Change) -> Change {
        let earlier = changes.filter { $0.isSame(as: change) }
        var merged = change
        // An interrupted attempt may have stopped units already.
        let active = Set((earlier + [change]).flatMap { $0.active ?? [] })
        if merged.masked != nil { merged.active = active.sorted() }
        // Each contains the next one, with a longer path.
        merged.directories = Set((earlier + [change]).flatMap(\.directories)).sorted { $0.utf8.count < $1.utf8.count }
        changes.removeAll { earlier.contains($0) }
        changes.append(merged)
        return merged
    }

    static let fileName = "setup.json"

    /// - Returns: an empty record if there is none.
    /// - Throws: errSecNotAvailable for a record that cannot be read, or of a newer version.
    static func read(in directory: String) throws(KeychainError) -> SetupRecord {
        let path = "\(directory)/\(fileName)"
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes = try PrivateFile.read(path, atMost: maxLength)
        } catch {
            throw KeychainError(ofFile: error)
        }
        guard let bytes else { return SetupRecord() }
        guard let record = try? JSONDecoder().decode(SetupRecord.self, from: Data(bytes)),
            (1...2).contains(record.format)
        else {
            throw KeychainError(
                .notAvailable, "\(path), the record of latchkey setup, cannot be read by this version",
                hint: "undo its changes by hand, and remove it")
        }
        return record
    }

    /// Replaces the record; removes the file if nothing is left to undo.
    func write(in path: String) throws(KeychainError) {
        do throws(SystemError) {
            let directory = try PrivateDirectory(creating: path)
            guard !changes.isEmpty else { return try PrivateFile.remove(Self.fileName, in: directory) }
            var record = self
            record.format = changes.contains { $0.masked != nil || $0.ended != nil } ? 2 : 1
            guard let data = try? JSONEncoder().encode(record) else {
                throw SystemError("encode the record of latchkey setup", code: EINVAL)
            }
            try PrivateFile.replace(Self.fileName, in: directory, content: Array(data))
        } catch {
            throw KeychainError(ofFile: error)
        }
    }

    /// 4 MiB.
    private static let maxLength = 4 << 20
}
