// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LinuxSystem

/// The prints that fprintd stores: files `USER/DRIVER/DEVICE/FINGER` below its state directory.
///
/// Everything is opened below the directory, without following links. A link, or another kind of
/// file than the expected one, is an error, because a set that is read only in part would have the
/// digest of another set.
public struct PrintStore: Sendable {
    private let directory: String

    /// fprintd's `StateDirectory`.
    public static let defaultDirectory = "/var/lib/fprint"
    /// The prints of one user, on all readers.
    public static let maxPrints = 256
    /// The bytes of one print; those of libfprint have some ten thousand.
    public static let maxPrintLength = 1 << 20

    public init(_ directory: String = defaultDirectory) { self.directory = directory }

    /// Returns the set of a user's stored prints; nil if there is none.
    ///
    /// The digest is SHA-256 of the encoding of a domain, and of driver, device, finger and SHA-256
    /// of the content of each file, sorted by their bytes.
    ///
    /// - Parameter user: a login name.
    public func enrolledSet(ofUserNamed user: String) throws(EnrolledSetError) -> EnrolledSet? {
        guard StoreDirectory.isName(user) else { throw .failed("the user's name cannot be that of a directory") }
        var prints: [StoredPrint] = []
        do throws(SystemError) {
            guard let store = try StoreDirectory(directory), let home = try store.directory(user) else { return nil }
            try collect(home, path: [], into: &prints)
        } catch {
            throw .failed(error.description)
        }
        guard !prints.isEmpty else { return nil }
        var encoding = SetEncoding(domain: "latchkey stored prints 1")
        for print in prints.sorted(by: StoredPrint.precedes) {
            for name in print.path { encoding.append(Array(name.utf8)) }
            encoding.append(try SetEncoding.digest(of: print.content))
        }
        return try encoding.enrolledSet(.storedPrints)
    }

    /// Adds the prints below a directory.
    ///
    /// - Parameter path: the names of the directories above: driver, device.
    private func collect(
        _ directory: borrowing StoreDirectory, path: [String], into prints: inout [StoredPrint]
    ) throws(SystemError) {
        for name in try directory.names() {
            guard path.count == Self.depth else {
                // A set that changes while it is read is an error, and not the set without the entry.
                guard let lower = try directory.directory(name) else {
                    throw SystemError("open the directory", path: "\(self.directory)/…/\(name)", code: ENOENT)
                }
                try collect(lower, path: path + [name], into: &prints)
                continue
            }
            // fprintd reads no other files; a file that it is writing has a temporary name.
            guard Self.fingerNames.contains(name) else { continue }
            let content = try directory.file(name, maxLength: Self.maxPrintLength)
            prints.append(StoredPrint(path: path + [name], content: content))
            guard prints.count <= Self.maxPrints, prints.reduce(0, { $0 + $1.content.count }) <= Self.maxLength else {
                throw SystemError("read the prints in", path: self.directory, code: EFBIG)
            }
        }
    }

    /// The numbers of the fingers, as libfprint counts them from the left thumb.
    private static let fingerNames: Set<String> = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "a"]
    /// The directories between a user's and the prints: driver and device.
    private static let depth = 2
    /// The bytes of all prints of one user.
    private static let maxLength = 32 << 20
}

/// One file of the store.
private struct StoredPrint {
    /// Driver, device and finger.
    let path: [String]
    let content: [UInt8]

    static func precedes(_ first: StoredPrint, _ second: StoredPrint) -> Bool {
        first.sortKey.lexicographicallyPrecedes(second.sortKey)
    }

    /// No name has the byte 0, so that the order is the one of the names.
    private var sortKey: [UInt8] { Array(path.map { Array($0.utf8) }.joined(separator: [0])) }
}
