// SPDX-License-Identifier: Apache-2.0

internal import CodeRules
internal import LatchkeyCommands
internal import LinuxSystem
internal import SecretScan

/// Scans files for secrets, and code by the rules.
struct FileScanner {
    private let secrets = SecretScanner()
    private let parser = SwiftParserProcess()
    private let observer: TextObserver?

    /// The maximum number of bytes that are scanned without a file.
    static let maxLength = ScanLimits().maxDocumentLength

    /// - Parameter observer: sees every text.
    init(observer: TextObserver?) { self.observer = observer }

    /// Scans the bytes of a file.
    func report(_ bytes: [UInt8], name: String) -> LintFileReport {
        var report = LintFileReport(secrets.scan(bytes, name: name, observer: observer))
        if CodeScanner.reads(name) { report.addCode(bytes, name: name, parser: parser) }
        return report
    }

    func report(_ file: FileTree.File, name: String) throws(SystemError) -> LintFileReport {
        var report = LintFileReport(
            try secrets.scan(file.directory.open(file.name, flags: 0), name: name, observer: observer))
        if CodeScanner.reads(name) {
            let bytes = try file.directory.open(file.name, flags: 0).read(upTo: CodeScanner.maxLength + 1, path: name)
            report.addCode(bytes, name: name, parser: parser)
        }
        return report
    }
}
