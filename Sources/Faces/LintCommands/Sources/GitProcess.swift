// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyCommands
internal import LinuxSystem

/// A git command that reads a repository. It starts no other program of the repository's choice, and loads nothing over
/// the network.
struct GitProcess: ~Copyable {
    private let process: ConversationProcess
    private var buffer: [UInt8] = []
    /// How much of the buffer was read.
    private var position = 0

    /// The maximum time that git takes for its next bytes, in nanoseconds.
    private static let timeout: UInt64 = 600_000_000_000

    /// - Parameter usesOwnIndex: whether the index is that of the commit that runs this program as a hook.
    init(_ arguments: [String], in repository: FilePath, usesOwnIndex: Bool = false) throws(CommandFailure) {
        guard let path = repository.text else { throw .parameter("the path \(repository) is not UTF-8") }
        guard let git = Self.executable else { throw .parameter("git was not found", hint: "apt install git") }
        do throws(SystemError) {
            process = try ConversationProcess(
                executable: git,
                arguments: ["--no-replace-objects", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", path]
                    + arguments,
                environment: Self.environment + (usesOwnIndex ? Self.ownIndex : []), startsSession: false,
                inheritsErrors: true)
        } catch { throw .parameter(error.description) }
    }

    /// Requires that the folder is in a git repository.
    static func requireRepository(_ repository: FilePath) throws(CommandFailure) {
        var git = try GitProcess(["rev-parse", "--git-dir"], in: repository)
        guard try git.next() != nil else { throw .parameter("\(repository) is in no git repository that git reads") }
    }

    private static var executable: String? {
        ["/usr/bin/git", "/usr/local/bin/git", "/bin/git"].first { (try? FileStatus.of($0)) ?? nil != nil }
    }

    private static let environment = [
        "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
        "GIT_TERMINAL_PROMPT=0",
        "GIT_PAGER=cat", "HOME=\(SecureEnvironment.value(of: "HOME") ?? "/")",
    ]

    /// A commit of some of the changes has an index of its own, and names it for its hooks.
    private static let ownIndex = SecureEnvironment.value(of: "GIT_INDEX_FILE").map { ["GIT_INDEX_FILE=\($0)"] } ?? []

    // MARK: Output

    /// Returns the bytes up to the next separator, without it; nil at the end of the output.
    mutating func next(endingWith separator: UInt8 = 0x0A) throws(CommandFailure) -> [UInt8]? {
        while true {
            if let end = buffer[position...].firstIndex(of: separator) {
                defer { position = end + 1 }
                return Array(buffer[position..<end])
            }
            guard try fill() else {
                defer { position = buffer.count }
                return position < buffer.count ? Array(buffer[position...]) : nil
            }
        }
    }

    /// Returns the next bytes; fewer at the end of the output.
    mutating func next(count: Int) throws(CommandFailure) -> [UInt8] {
        while buffer.count - position < count, try fill() {}
        defer { position = min(buffer.count, position + count) }
        return Array(buffer[position...].prefix(count))
    }

    /// Requires that git has read everything, at the end of its output.
    func requireSuccess() throws(CommandFailure) {
        guard process.hasSucceeded(until: Self.deadline) else {
            throw .parameter("git has failed", hint: "git fsck checks the repository")
        }
    }

    func write(_ text: String) throws(CommandFailure) {
        var outcome = Result<Void, SystemError>.success(())
        Array(text.utf8).withUnsafeBytes { bytes in
            outcome = Result { () throws(SystemError) in
                try process.write(bytes, until: Self.deadline, cancellation: Cancellation())
            }
        }
        do throws(SystemError) { try outcome.get() } catch { throw .parameter(error.description) }
    }

    private mutating func fill() throws(CommandFailure) -> Bool {
        buffer.removeFirst(position)
        position = 0
        let chunk = try read()
        buffer += chunk
        return !chunk.isEmpty
    }

    private func read() throws(CommandFailure) -> ArraySlice<UInt8> {
        var (chunk, outcome) = ([UInt8](repeating: 0, count: 1 << 18), Result<Int, SystemError>.success(0))
        chunk.withUnsafeMutableBytes { bytes in
            outcome = Result { () throws(SystemError) in
                try process.read(into: bytes, until: Self.deadline, cancellation: Cancellation())
            }
        }
        do throws(SystemError) { return chunk.prefix(try outcome.get()) } catch { throw .parameter(error.description) }
    }

    private static var deadline: UInt64 { BootClock.system.now() &+ timeout }
}
