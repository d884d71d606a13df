// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LatchkeyCommands
internal import LinuxSystem
internal import Yams

/// The file `.latchkeylint.yaml`: paths that are left out, and rules that are off.
struct LintConfiguration: Decodable {
    static let fileName: FilePath = ".latchkeylint.yaml"
    private static let maxLength = 1 << 20

    /// Patterns of paths. `*` stands for any characters, also `/`.
    private(set) var exclude: [String] = []
    /// Identifiers of rules and of kinds of secrets.
    private(set) var disable: Set<String> = []

    private enum Key: String, CodingKey, CaseIterable { case exclude, disable }

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        exclude = try container.decodeIfPresent([String].self, forKey: .exclude) ?? []
        disable = Set(try container.decodeIfPresent([String].self, forKey: .disable) ?? [])
    }

    /// Reads the file that a command names; without one, that of the current directory, if there is one.
    static func read(_ path: FilePath?) throws(CommandFailure) -> LintConfiguration {
        let bytes: [UInt8]?
        do throws(SystemError) { bytes = try BoundedFile.read(path ?? fileName, limit: maxLength) } catch {
            throw .parameter(error.description)
        }
        guard let bytes else {
            guard let path else { return LintConfiguration() }
            throw .parameter("the configuration \(path) does not exist")
        }
        return try parse(String(decoding: bytes, as: UTF8.self), path ?? fileName)
    }

    private static func parse(_ text: String, _ path: FilePath) throws(CommandFailure) -> LintConfiguration {
        let configuration: LintConfiguration
        do {
            // An unknown key must not be ignored: the rule that it was meant for would stay as it is.
            let document = try Yams.compose(yaml: text)
            let keys = document.map { node in node.mapping?.keys.map { $0.string ?? "" } ?? [""] } ?? []
            if let unknown = keys.first(where: { Key(rawValue: $0) == nil }) {
                throw CommandFailure.parameter(
                    "\(path): unknown key '\(unknown)'",
                    hint: "known keys: \(Key.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            configuration =
                keys.isEmpty ? LintConfiguration() : try YAMLDecoder().decode(LintConfiguration.self, from: text)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw .parameter("\(path) is not a valid configuration: \(error)")
        }
        let known = Set(LintFinding.rules.map(\.id))
        if let unknown = configuration.disable.subtracting(known).sorted().first {
            throw .parameter("\(path): unknown rule '\(unknown)'", hint: "latchkey lint rules lists them")
        }
        return configuration
    }

    func excludes(_ name: String) -> Bool { exclude.contains { fnmatch($0, name, 0) == 0 } }

    func disables(_ finding: LintFinding) -> Bool { disable.contains(finding.id) }
}
