// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The seed inputs of the fuzzers, and the inputs that they have found.
public enum FuzzCorpus {
    /// Returns the URL of a folder of Fuzz/Corpus.
    public static func folder(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz/Corpus/\(name)").standardized
    }

    /// Returns the inputs of a folder, sorted by name.
    public static func inputs(_ name: String) throws -> [(name: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(atPath: folder(name).path).sorted().map { file in
            (file, Array(try Data(contentsOf: folder(name).appending(path: file))))
        }
    }
}
