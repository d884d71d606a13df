// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The inputs that the fuzzers start from, and that they have found.
public enum FuzzCorpus {
    /// A folder of Fuzz/Corpus.
    public static func folder(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz/Corpus/\(name)").standardized
    }

    /// The inputs of a folder, by name.
    public static func inputs(_ name: String) throws -> [(name: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(atPath: folder(name).path).sorted().map { file in
            (file, Array(try Data(contentsOf: folder(name).appending(path: file))))
        }
    }
}
