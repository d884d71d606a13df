// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import Glibc
internal import LinuxSystem
@_spi(Reflection) internal import Swift

/// The temporary file of a download task. The program that gets it moves or removes it, as on Foundation's connections.
final class DownloadedFile: Sendable {
    let url: URL
    private let state: SystemMutex<State>

    private struct State: ~Copyable {
        let descriptor: OwnedDescriptor
        var count: Int64 = 0
        var isDelivered = false
    }

    /// Creates an empty file that only its user can read.
    init() throws(SystemError) {
        let name = "CFNetworkDownload_\(UUID().uuidString).tmp"
        url = URL(filePath: NSTemporaryDirectory()).appending(path: name)
        state = SystemMutex(
            State(descriptor: try OwnedDescriptor(opening: url.path, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)))
    }

    deinit { remove() }

    /// Removes the file, unless Foundation has it.
    func remove() { if !state.withLock({ $0.isDelivered }) { unlink(url.path) } }

    /// Appends to the file.
    ///
    /// - Returns: its length.
    func append(_ data: Data) throws(SystemError) -> Int64 {
        var outcome = Result<Int64, SystemError>.success(0)
        data.withUnsafeBytes { bytes in
            outcome = state.withLock { state in
                Result { () throws(SystemError) in
                    try state.descriptor.write(bytes, path: url.path)
                    state.count += Int64(bytes.count)
                    return state.count
                }
            }
        }
        return try outcome.get()
    }

    // MARK: Foundation

    /// Gives the file to Foundation, which passes it to the program when the load ends. Must be called on the task's queue.
    ///
    /// Foundation takes it from a property of the protocol object that it does not publish: the dictionary `properties`,
    /// under the case `temporaryFileURL` of an enumeration.
    ///
    /// - Returns: false if this version of Foundation has no such property.
    func deliver(to load: URLProtocol) -> Bool {
        guard let keys = _typeByName("20FoundationNetworking11URLProtocolC12_PropertyKeyO") as? any Hashable.Type else {
            return false
        }
        guard put(under: keys, in: load) else { return false }
        state.withLock { $0.isDelivered = true }
        return true
    }

    private func put<Key: Hashable>(under _: Key.Type, in load: URLProtocol) -> Bool {
        guard MemoryLayout<Key>.size == 1 else { return false }
        // unsafeBitCast because the type has no name here: an enumeration of one byte is the number of its case.
        let keys = ([0, 1] as [UInt8]).map { unsafeBitCast($0, to: Key.self) }
        guard let key = keys.first(where: { String(describing: $0) == "temporaryFileURL" }) else { return false }
        var place: Int?
        // classType
        let options = _EachFieldOptions(rawValue: 1)
        _ = _forEachField(of: URLProtocol.self, options: options) { name, offset, type, _ in
            if String(cString: name) == "properties", type == [Key: Any].self { place = offset }
            return true
        }
        guard let place else { return false }
        let properties = (Unmanaged.passUnretained(load).toOpaque() + place).assumingMemoryBound(to: [Key: Any].self)
        properties.pointee[key] = url
        return true
    }
}
