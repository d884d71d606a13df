// SPDX-License-Identifier: Apache-2.0

/// A language with rules.
public enum CodeLanguage: String, CaseIterable, Sendable {
    case swift, objectiveC, kotlin, java, javaScript, python, go
    /// A property list, or a manifest of Android.
    case xml

    /// - Parameter name: of the file; nil for a file of another language.
    init?(fileName name: String) {
        let ending = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        switch ending {
        case "swift": self = .swift
        case "m", "mm", "h": self = .objectiveC
        case "kt", "kts": self = .kotlin
        case "java": self = .java
        case "js", "mjs", "cjs", "jsx", "ts", "tsx": self = .javaScript
        case "py": self = .python
        case "go": self = .go
        case "plist", "xml": self = .xml
        default: return nil
        }
    }
}
