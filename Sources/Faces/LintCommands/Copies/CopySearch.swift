// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyCommands
internal import LatchkeyOperations
internal import LinuxSystem
internal import SecretMemory
internal import SecretScan

/// A search for copies of the keychain's secrets in the texts of a scan: the scan goes on in the caller's thread, and the
/// request to the service in another one.
final class CopySearch: Sendable {
    private struct State {
        var stream = CopyStream()
        /// The piece that the request takes next.
        var piece: SharedSecret?
        var copies: Set<FoundCopy> = []
        /// Set at the end of the request.
        var outcome: Result<CopyReport, KeychainError>?
    }

    private let state = SystemMutex(State())
    /// Released when the request wants a piece, and at its end.
    private let wanted = BinarySemaphore(isHeld: true)
    /// Released when the next piece is there.
    private let filled = BinarySemaphore(isHeld: true)

    /// Starts the request.
    ///
    /// - Throws: if it is refused: then nothing has to be scanned.
    init(_ keychain: KeychainSession, passcode: SharedSecret?) throws(CommandFailure) {
        let isRunning = BackgroundThread.run { [self] in
            let outcome = Result { () throws(KeychainError) in
                try keychain.findCopies(passcode: passcode, next: { self.next() }, found: { self.take($0) })
            }
            state.withLock { $0.outcome = outcome }
            wanted.release()
        }
        guard isRunning else { throw .parameter("no thread for the search in the keychain") }
        waitForRequest()
        if case .failure(let error) = state.withLock({ $0.outcome }) { throw .status(error) }
    }

    /// Shows the search every text of a scan.
    var observer: TextObserver {
        TextObserver { [self] text, place in
            var (rest, place, continues) = (text, place, false)
            while !rest.isEmpty {
                let part = rest.prefix(CopyStream.maxPartLength)
                let piece = state.withLock { $0.stream.append(part, at: place, continues: continues) }
                if let piece { send(piece) }
                (rest, place, continues) = (rest.dropFirst(part.count), place.advanced(over: part), true)
            }
        }
    }

    /// Ends the search.
    func finish() -> (copies: [FoundCopy], outcome: Result<CopyReport, KeychainError>) {
        let last = state.withLock { $0.stream.last() }
        if last.count > 0 { send(last) }
        send(SharedSecret(copying: []))
        let (copies, outcome) = state.withLock { ($0.copies, $0.outcome) }
        return (FoundCopy.distinct(copies), outcome ?? .failure(.unexpectedResponse))
    }

    // MARK: The scan's thread

    private func send(_ piece: SharedSecret) {
        let isOver = state.withLock { state in
            if state.outcome == nil { state.piece = piece }
            return state.outcome != nil
        }
        guard !isOver else { return }
        filled.release()
        waitForRequest()
    }

    /// Waits until the request wants a piece, or has ended.
    private func waitForRequest() { wanted.acquire() }

    // MARK: The request's thread

    private func next() -> SharedSecret {
        wanted.release()
        filled.acquire()
        return state.withLock { state in
            defer { state.piece = nil }
            return state.piece ?? SharedSecret(copying: [])
        }
    }

    private func take(_ matches: [CopyMatch]) {
        state.withLock { state in
            for match in matches {
                guard let place = state.stream.place(of: match.position) else { continue }
                state.copies.insert(FoundCopy(item: match.item, place: place))
            }
        }
    }
}

/// A copy of an item's secret, with its place.
struct FoundCopy: Hashable {
    let item: CopiedItem
    let place: ScanPlace

    /// The copies in the order of their places; one in the bytes of a database only if it is in no record of it.
    static func distinct(_ copies: Set<FoundCopy>) -> [FoundCopy] {
        let inRecords = Set(copies.filter { !$0.isInRawBytes }.map(\.file))
        return copies.filter { !$0.isInRawBytes || !inRecords.contains($0.file) }.sorted {
            ($0.place.names.joined(separator: "\0"), $0.place.line, $0.place.column, $0.item.name)
                < ($1.place.names.joined(separator: "\0"), $1.place.line, $1.place.column, $1.item.name)
        }
    }

    private var isInRawBytes: Bool { place.encodings == [TextObserver.rawBytes] }

    private struct File: Hashable {
        let item: CopiedItem
        let name: String?
    }

    private var file: File { File(item: item, name: place.names.first) }
}
