// SPDX-License-Identifier: Apache-2.0

package import Foundation

// As Data+Redirections.swift, for texts. An optimized program has other calls in the place of the deprecated ones.

extension StringProtocol {
    /// `StringProtocol.write(to:atomically:encoding:)`.
    @_silgen_name("__wrap_$sSy20FoundationEssentialsE5write2to10atomically8encodingyAA3URLV_SbSSAAE8EncodingVtKF")
    package func redirectedWrite(to url: URL, atomically: Bool, encoding: String.Encoding) throws {
        guard let write = try ProtectedWrite(to: url) else {
            return try plainWrite(to: url, atomically: atomically, encoding: encoding)
        }
        try write.write(self, encoding)
    }

    @_silgen_name("__real_$sSy20FoundationEssentialsE5write2to10atomically8encodingyAA3URLV_SbSSAAE8EncodingVtKF")
    private func plainWrite(to url: URL, atomically: Bool, encoding: String.Encoding) throws

    /// `StringProtocol.write(toFile:atomically:encoding:)`.
    @_silgen_name(
        "__wrap_$sSy20FoundationEssentialsE5write6toFile10atomically8encodingyqd___SbSSAAE8EncodingVtKSyRd__lF")
    package func redirectedWrite<Path: StringProtocol>(
        toFile path: Path, atomically: Bool, encoding: String.Encoding
    ) throws {
        guard let write = try ProtectedWrite(toPath: String(path)) else {
            return try plainWrite(toFile: path, atomically: atomically, encoding: encoding)
        }
        try write.write(self, encoding)
    }

    @_silgen_name(
        "__real_$sSy20FoundationEssentialsE5write6toFile10atomically8encodingyqd___SbSSAAE8EncodingVtKSyRd__lF")
    private func plainWrite<Path: StringProtocol>(
        toFile path: Path, atomically: Bool, encoding: String.Encoding
    ) throws
}

extension String {
    /// `String.init(contentsOf:encoding:)`.
    @_silgen_name("__wrap_$sSS20FoundationEssentialsE10contentsOf8encodingSSAA3URLVh_SSAAE8EncodingVtKcfC")
    package static func redirectedContents(of url: URL, encoding: Encoding) throws -> String {
        try ProtectedRead(url).text(encoding) { try plainContents(of: url, encoding: encoding) }
    }

    @_silgen_name("__real_$sSS20FoundationEssentialsE10contentsOf8encodingSSAA3URLVh_SSAAE8EncodingVtKcfC")
    private static func plainContents(of url: URL, encoding: Encoding) throws -> String

    /// `String.init(contentsOf:usedEncoding:)`.
    @_silgen_name("__wrap_$sSS20FoundationEssentialsE10contentsOf12usedEncodingSSAA3URLVh_SSAAE0F0VztKcfC")
    package static func redirectedContents(of url: URL, usedEncoding: inout Encoding) throws -> String {
        try ProtectedRead(url).text(&usedEncoding) { try plainContents(of: url, usedEncoding: &$0) }
    }

    @_silgen_name("__real_$sSS20FoundationEssentialsE10contentsOf12usedEncodingSSAA3URLVh_SSAAE0F0VztKcfC")
    private static func plainContents(of url: URL, usedEncoding: inout Encoding) throws -> String

    /// `String.init(contentsOfFile:encoding:)`.
    @_silgen_name("__wrap_$sSS20FoundationEssentialsE14contentsOfFile8encodingS2Sh_SSAAE8EncodingVtKcfC")
    package static func redirectedContents(ofFile path: String, encoding: Encoding) throws -> String {
        try ProtectedRead(path: path).text(encoding) { try plainContents(ofFile: path, encoding: encoding) }
    }

    @_silgen_name("__real_$sSS20FoundationEssentialsE14contentsOfFile8encodingS2Sh_SSAAE8EncodingVtKcfC")
    private static func plainContents(ofFile path: String, encoding: Encoding) throws -> String

    /// `String.init(contentsOfFile:usedEncoding:)`.
    @_silgen_name("__wrap_$sSS20FoundationEssentialsE14contentsOfFile12usedEncodingS2Sh_SSAAE0G0VztKcfC")
    package static func redirectedContents(ofFile path: String, usedEncoding: inout Encoding) throws -> String {
        try ProtectedRead(path: path).text(&usedEncoding) { try plainContents(ofFile: path, usedEncoding: &$0) }
    }

    @_silgen_name("__real_$sSS20FoundationEssentialsE14contentsOfFile12usedEncodingS2Sh_SSAAE0G0VztKcfC")
    private static func plainContents(ofFile path: String, usedEncoding: inout Encoding) throws -> String

    /// `String.init(contentsOf:)`.
    @_silgen_name("__wrap_$sSS10FoundationE10contentsOfSS0A10Essentials3URLVh_tKcfC")
    package static func redirectedContents(of url: URL) throws -> String {
        var encoding = Encoding.utf8
        return try redirectedContents(of: url, usedEncoding: &encoding)
    }

    /// `String.init(contentsOfFile:)`.
    @_silgen_name("__wrap_$sSS10FoundationE14contentsOfFileS2Sh_tKcfC")
    package static func redirectedContents(ofFile path: String) throws -> String {
        var encoding = Encoding.utf8
        return try redirectedContents(ofFile: path, usedEncoding: &encoding)
    }
}
