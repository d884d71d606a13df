// SPDX-License-Identifier: Apache-2.0

package import Foundation

// The linker sends the calls of a program to these functions: Documentation/Redirections.md. A function without a body
// is Foundation's own.
extension Data {
    /// `Data.write(to:options:)`.
    @_silgen_name("__wrap_$s20FoundationEssentials4DataV5write2to7optionsyAA3URLV_AC14WritingOptionsVtKF")
    package func redirectedWrite(to url: URL, options: WritingOptions) throws {
        guard let write = try ProtectedWrite(to: url, options) else { return try plainWrite(to: url, options: options) }
        try write.write(self)
    }

    @_silgen_name("__real_$s20FoundationEssentials4DataV5write2to7optionsyAA3URLV_AC14WritingOptionsVtKF")
    private func plainWrite(to url: URL, options: WritingOptions) throws

    /// `Data.init(contentsOf:options:)`.
    @_silgen_name("__wrap_$s20FoundationEssentials4DataV10contentsOf7optionsAcA3URLVh_AC14ReadingOptionsVtKcfC")
    package static func redirectedContents(of url: URL, options: ReadingOptions) throws -> Data {
        if let loaded = try RedirectedLoad.data(of: url) { return loaded }
        let data = try plainContents(of: url, options: options)
        guard data.hasProtectionMark else { return data }
        return try ProtectedRead(url).contents() ?? data
    }

    @_silgen_name("__real_$s20FoundationEssentials4DataV10contentsOf7optionsAcA3URLVh_AC14ReadingOptionsVtKcfC")
    private static func plainContents(of url: URL, options: ReadingOptions) throws -> Data
}
