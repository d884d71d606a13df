// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension StringProtocol {
    /// Writes a text, as ``Foundation/Data/write(to:options:)`` of this module does.
    public func write(to url: URL, atomically useAuxiliaryFile: Bool, encoding enc: String.Encoding) throws {
        guard let data = data(using: enc) else {
            throw CocoaError(.fileWriteInapplicableStringEncoding, userInfo: [NSFilePathErrorKey: url.path])
        }
        try data.write(to: url, options: useAuxiliaryFile ? .atomic : [])
    }

    /// Writes a text, as ``Foundation/Data/write(to:options:)`` of this module does.
    public func write(
        toFile path: some StringProtocol, atomically useAuxiliaryFile: Bool, encoding enc: String.Encoding
    )
        throws
    {
        try write(to: URL(filePath: String(path)), atomically: useAuxiliaryFile, encoding: enc)
    }
}
