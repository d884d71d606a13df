// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The small package of ICU's data, in a program that uses Foundation (Documentation/Decisions/0073-icu-data.md).
@Suite("ICU's data", .enabled(if: icuLibrary != nil))
struct ICUDataTests {
    private static let script = Sources.root.appending(path: "Scripts/icu-data").path

    @Test("Dates, zones, numbers, expressions and addresses are as with all of the data")
    func same() throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "latchkey-icu-\(UUID())")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: place) } }
        let (source, object) = ("\(place.path)/main.swift", "\(place.path)/icu-data.o")
        try Data(Self.program.utf8).write(to: URL(filePath: source))
        let made = try run(Self.script, [#require(icuLibrary), object])
        #expect(made.status == 0, "\(made)")
        let symbol = made.output.trimmingCharacters(in: .newlines)
        let flags = ["swiftc", "-static-stdlib", source, "-o"]
        let whole = try run("/usr/bin/env", flags + ["\(place.path)/whole"])
        let small = try run(
            "/usr/bin/env", flags + ["\(place.path)/small", "-Xlinker", "--wrap=\(symbol)", "-Xlinker", object])
        #expect(whole.status == 0 && small.status == 0, "\(whole) \(small)")
        let sizes = try ["whole", "small"].map { name in
            try #require(FileManager.default.attributesOfItem(atPath: "\(place.path)/\(name)")[.size] as? Int)
        }
        #expect(sizes[0] - sizes[1] > 25_000_000, "\(sizes)")
        let expected = try run("\(place.path)/whole", [])
        let found = try run("\(place.path)/small", [])
        #expect(expected.output.split(separator: "\n").count == 9 && expected.status == 0, "\(expected)")
        #expect(found.output == expected.output)
    }

    @Test("A file that is no such library is refused")
    func refuses() throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "latchkey-icu-\(UUID())")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: place) } }
        let file = "\(place.path)/library.a"
        try Data("!<arch>\n".utf8).write(to: URL(filePath: file))
        let outcome = try run(Self.script, [file, "\(place.path)/icu-data.o"])
        #expect(outcome.status != 0 && outcome.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: "\(place.path)/icu-data.o"))
    }

    private static let program = #"""
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

/// Swift's static library of ICU; nil where the toolchain has none.
private let icuLibrary: String? = {
    let info = try? run("/usr/bin/env", ["swiftc", "-print-target-info"]).output
    guard
        let info, let object = try? JSONSerialization.jsonObject(with: Data(info.utf8)) as? [String: Any],
        let resources = (object["paths"] as? [String: Any])?["runtimeResourcePath"] as? String
    else { return nil }
    let path = "\(resources)_static/linux/lib_FoundationICU.a"
    return FileManager.default.fileExists(atPath: path) ? path : nil
}()

private func run(_ program: String, _ words: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = words
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
}
