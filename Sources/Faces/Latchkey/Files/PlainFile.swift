// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// Foundation's own calls for files, for LatchkeyFoundation, where functions of the same names hide
/// them.
package enum PlainFile {
    package static func write(_ data: Data, to url: URL, options: Data.WritingOptions) throws {
        try data.write(to: url, options: options)
    }

    package static func contents(of url: URL, options: Data.ReadingOptions) throws -> Data {
        try Data(contentsOf: url, options: options)
    }

    package static func attributes(ofItemAtPath path: String) throws -> [FileAttributeKey: Any] {
        try FileManager.default.attributesOfItem(atPath: path)
    }

    package static func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
        try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
    }

    package static func create(
        _ path: String, _ data: Data?, attributes: [FileAttributeKey: Any]?
    ) -> Bool {
        FileManager.default.createFile(atPath: path, contents: data, attributes: attributes)
    }

    package static func createDirectory(
        _ path: String, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]?
    ) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: withIntermediateDirectories, attributes: attributes)
    }
}
