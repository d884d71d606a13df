// SPDX-License-Identifier: Apache-2.0

internal import CodeRules
internal import Glibc
internal import LinuxSystem

/// Parses Swift in a process of its own, because the parser may need exponential time or an endless stack for some code.
/// The process ends itself when a file takes too long; then the next file gets a new one.
///
/// A request is the number of the code's bytes (UInt32, big-endian) and the code. The answer is a line `ID LINE COLUMN`
/// for each finding, and an empty line.
final class SwiftParserProcess {
    private var process: ConversationProcess?
    /// How many processes have ended before they answered.
    private var endings = 0

    private static let maxEndings = 8
    /// In nanoseconds; the limit of processor time ends the process long before.
    private static let timeout: UInt64 = 600_000_000_000

    func findings(in code: String) throws(CodeProblem) -> [CodeFinding] {
        guard !code.isEmpty else { return [] }
        guard endings < Self.maxEndings else {
            throw CodeProblem(line: nil, reason: "\(Self.maxEndings) other files could not be parsed")
        }
        do throws(SystemError) {
            if process == nil { process = try Self.start() }
            return try exchange(Array(code.utf8))
        } catch {
            process = nil
            endings += 1
            throw CodeProblem(
                line: nil,
                reason: error.code == EPIPE
                    ? "parsing takes more than \(SwiftParserServer.maxSeconds) seconds, or too much memory"
                    : error.description)
        }
    }

    private static func start() throws(SystemError) -> ConversationProcess {
        try ConversationProcess(
            executable: "/proc/self/exe", arguments: [SwiftParserServer.option],
            environment: ["SWIFT_BACKTRACE=enable=no"],
            startsSession: false)
    }

    private func exchange(_ code: [UInt8]) throws(SystemError) -> [CodeFinding] {
        let length = withUnsafeBytes(of: UInt32(clamping: code.count).bigEndian) { Array($0) }
        let deadline = BootClock.system.now() &+ Self.timeout
        var written = Result<Void, SystemError>.success(())
        (length + code).withUnsafeBytes { bytes in
            written = Result { () throws(SystemError) in
                try process?.write(bytes, until: deadline, cancellation: Cancellation())
            }
        }
        try written.get()
        var answer: [UInt8] = []
        while !(answer == [0x0A] || answer.suffix(2) == [0x0A, 0x0A]) {
            var (chunk, read) = ([UInt8](repeating: 0, count: 1 << 16), Result<Int, SystemError>.success(0))
            chunk.withUnsafeMutableBytes { bytes in
                read = Result { () throws(SystemError) in
                    try process?.read(into: bytes, until: deadline, cancellation: Cancellation()) ?? 0
                }
            }
            let count = try read.get()
            guard count > 0 else { throw SystemError("parse Swift", code: EPIPE) }
            answer += chunk.prefix(count)
        }
        return try String(decoding: answer, as: UTF8.self).split(separator: "\n").map { (line) throws(SystemError) in
            guard let finding = CodeFinding(answer: line) else { throw SystemError("parse Swift", code: EPROTO) }
            return finding
        }
    }
}

/// The process that parses.
enum SwiftParserServer {
    static let option = "--parse-swift"
    /// The maximum processor time for a file.
    static let maxSeconds = 5
    private static let maxMemory: UInt64 = 4 << 30
    /// Each byte that is not UTF-8 is replaced by three.
    private static let maxLength = 3 * CodeScanner.maxLength

    /// Answers requests until the end of standard input.
    ///
    /// - Returns: the exit value.
    static func run() -> Int32 {
        let input = OwnedDescriptor(adopting: STDIN_FILENO)
        let output = OwnedDescriptor(adopting: STDOUT_FILENO)
        do throws(SystemError) {
            try ProcessLimits.limitMemory(to: maxMemory)
            while true {
                let length = try input.read(upTo: 4, path: "standard input").reduce(0) { $0 << 8 | Int($1) }
                guard 1...maxLength ~= length else { return 0 }
                let code = String(decoding: try input.read(upTo: length, path: "standard input"), as: UTF8.self)
                ProcessLimits.endAfter(processorSeconds: maxSeconds)
                guard let findings = try? CodeScanner.parseSwift(code) else { return 1 }
                let answer = findings.map { "\($0.rule.id) \($0.line) \($0.column)\n" }.joined() + "\n"
                var written = Result<Void, SystemError>.success(())
                Array(answer.utf8).withUnsafeBytes { bytes in
                    written = Result { () throws(SystemError) in try output.write(bytes, path: "standard output") }
                }
                try written.get()
            }
        } catch {
            return 1
        }
    }
}

extension CodeFinding {
    fileprivate init?(answer line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 3, let rule = CodeRule(id: String(words[0])), let line = Int(words[1]),
            let column = Int(words[2])
        else { return nil }
        self.init(rule: rule, line: line, column: column)
    }
}
