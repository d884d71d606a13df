// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import KeychainModel
internal import LinuxSystem

/// Finds the calls of Foundation that LatchkeyRedirections does not redirect in executables and shared libraries, by their
/// symbols: the linker has sent the calls of SYMBOL to `__wrap_SYMBOL`. It is strong in LatchkeyRedirections, and weak
/// where it calls Foundation.
struct BuildCheck {
    let findings: [KeychainFinding]

    /// - Parameter paths: executables, and the shared libraries that they are linked with.
    init(_ paths: [FilePath]) {
        let names = Set(FoundationCall.all.flatMap { [$0.symbol, $0.redirectedSymbol] })
        let files = paths.map { path in (path, Result { try ExecutableSymbols(of: path, names: names) }) }
        let libraries = files.compactMap { try? $0.1.get() }
        findings = files.map { path, symbols in
            switch symbols {
            case .failure(let error as SystemError):
                KeychainFinding(path.description, isHealthy: false, detail: error.description, hint: error.hint)
            case .failure(let error): KeychainFinding(path.description, isHealthy: false, detail: "\(error)")
            case .success(let symbols): Self.finding(path, symbols, libraries)
            }
        }
    }

    private static func finding(
        _ path: FilePath, _ symbols: ExecutableSymbols, _ libraries: [ExecutableSymbols]
    ) -> KeychainFinding {
        let states = FoundationCall.all.compactMap { call in call.state(in: symbols, libraries).map { (call, $0) } }
        func calls(_ state: FoundationCall.State) -> [FoundationCall] { states.filter { $0.1 == state }.map(\.0) }
        let (plain, unknown) = (calls(.plain), calls(.unknown))
        let subject = path.description
        guard unknown.isEmpty else {
            return KeychainFinding(
                subject, isHealthy: false,
                detail: "not known of \(number(unknown)) whether redirected: "
                    + (symbols.isComplete ? "shared libraries have their functions" : "it has no symbols"),
                hint: symbols.isComplete
                    ? "name the shared libraries with Latchkey as well: latchkey doctor --build \(subject.shellQuoted) LIBRARY"
                    : "check the file before strip")
        }
        guard plain.isEmpty else {
            return KeychainFinding(
                subject, isHealthy: false, detail: "not redirected: \(number(plain))",
                hint: "link the program with LatchkeyRedirections: Documentation/Redirections.md",
                steps: plain.map(\.sentence).withoutRepetitions)
        }
        guard symbols.isComplete || !states.isEmpty else {
            return KeychainFinding(
                subject, isHealthy: false, detail: "it has no symbols, and its calls are not known",
                hint: "check the file before strip")
        }
        return KeychainFinding(
            subject, isHealthy: true,
            detail: states.isEmpty
                ? "it has none of the calls of Foundation that can be redirected"
                : "redirected: all of \(number(states.map(\.0)))")
    }

    private static func number(_ calls: [FoundationCall]) -> String {
        "\(calls.count) call\(calls.count == 1 ? "" : "s") of Foundation"
    }
}

/// A call of Foundation that LatchkeyRedirections redirects.
private struct FoundationCall: Sendable {
    enum State { case redirected, plain, unknown }

    let symbol: String
    var redirectedSymbol: String { "__wrap_\(symbol)" }
    /// What it does without the redirection, as the linker says it.
    let sentence: String

    static let all: [FoundationCall] = {
        var calls: [FoundationCall] = []
        while let call = latchkey_foundation_call(calls.count)?.pointee {
            calls.append(
                FoundationCall(
                    symbol: String(cString: call.symbol),
                    sentence: String(cString: call.name) + String(cString: call.effect)))
        }
        return calls
    }()

    /// Nil if the file does not have the call.
    func state(in symbols: ExecutableSymbols, _ libraries: [ExecutableSymbols]) -> State? {
        switch symbols.bindings[redirectedSymbol] {
        case .strong: .redirected
        case .weak: .plain
        case .undefined:
            switch libraries.compactMap({ $0.bindings[redirectedSymbol] }).first(where: { $0 != .undefined }) {
            case .strong: .redirected
            case .weak: .plain
            case .undefined, nil: .unknown
            }
        case nil:
            // Without a full table, a redirected call looks the same: its new function calls Foundation's.
            symbols.bindings[symbol].map { _ in symbols.isComplete ? .plain : .unknown }
        }
    }
}

extension [String] {
    /// The elements, each once: two symbols can be one call.
    fileprivate var withoutRepetitions: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
