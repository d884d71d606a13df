// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A program that uses much of Foundation and ICU, built in a directory of its own with the options of a release.
struct FoundationProgram {
    let directory: URL

    /// Calls `body` with a directory that has the program's source, and deletes it.
    static func inDirectory(_ body: (FoundationProgram) throws -> Void) throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "latchkey-program-\(UUID())")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: place) } }
        let program = FoundationProgram(directory: place)
        try Data(source.utf8).write(to: URL(filePath: program.path("main.swift")))
        try body(program)
    }

    func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    /// Builds the program as an executable with Swift's libraries linked statically.
    func build(_ name: String, _ options: [String] = []) throws {
        let outcome = try run(
            "/usr/bin/env", ["swiftc", "-static-stdlib", path("main.swift"), "-o", path(name)] + options)
        #expect(outcome.status == 0, "\(name): \(outcome)")
    }

    func size(_ name: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path(name))[.size] as? Int)
    }

    /// What the executable prints.
    func output(_ name: String) throws -> String {
        let outcome = try run(path(name), [])
        #expect(outcome.status == 0, "\(name): \(outcome)")
        #expect(outcome.output.split(separator: "\n").count == 9, "\(name): \(outcome)")
        return outcome.output
    }

    private static let source = #"""
        import Foundation

        let date = Date(timeIntervalSince1970: 1_750_000_000)
        let zone = TimeZone(identifier: "Europe/Berlin")!
        let formatter = DateFormatter()
        (formatter.timeZone, formatter.dateStyle, formatter.timeStyle) = (zone, .full, .long)
        for locale in ["en_US_POSIX", ""] {
            formatter.locale = Locale(identifier: locale)
            print(formatter.string(from: date))
        }
        print(zone.secondsFromGMT(for: date), zone.nextDaylightSavingTimeTransition(after: date) as Any)
        print(ISO8601DateFormatter().string(from: date))
        let number = NumberFormatter()
        (number.locale, number.numberStyle) = (Locale(identifier: "en_US"), .decimal)
        print(number.string(from: 1234567.891) ?? "", String(format: "%05.2f", 3.14159))
        let text = "größe Äpfel"
        let expression = try NSRegularExpression(pattern: #"(\w+)\s+(\p{Lu}\w*)"#)
        print(
            expression.stringByReplacingMatches(
                in: text, range: NSRange(location: 0, length: text.utf16.count), withTemplate: "$2 $1"))
        print("Straße".uppercased(), "é".decomposedStringWithCanonicalMapping.utf8.count, "file10".localizedStandardCompare("file9").rawValue)
        print(URL(string: "https://bücher.example/ä")?.absoluteString ?? "nil")
        print(String(data: Data([0xe4, 0x41]), encoding: .isoLatin1) ?? "nil", "Résumé".folding(options: .diacriticInsensitive, locale: nil))
        """#
}

/// The directory of Swift's static libraries; nil where the toolchain has none.
let staticLibraries: String? = {
    let info = try? run("/usr/bin/env", ["swiftc", "-print-target-info"]).output
    guard
        let info, let object = try? JSONSerialization.jsonObject(with: Data(info.utf8)) as? [String: Any],
        let resources = (object["paths"] as? [String: Any])?["runtimeResourcePath"] as? String
    else { return nil }
    let path = "\(resources)_static/linux"
    return FileManager.default.fileExists(atPath: "\(path)/lib_FoundationICU.a") ? path : nil
}()

/// Runs a program, and returns what it prints on its standard output, and on its standard error.
func run(_ program: String, _ words: [String]) throws -> (status: Int32, output: String, errors: String) {
    let process = Process()
    // The modules whose waits have a limit are not built for these tests.
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    process.arguments = ["--kill-after=10", "600", program] + words
    let (output, errors) = (Pipe(), FileManager.default.temporaryDirectory.appending(path: "latchkey-errors-\(UUID())"))
    try Data().write(to: errors)
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: errors) } }
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text, try String(contentsOf: errors, encoding: .utf8))
}
