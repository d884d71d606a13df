// SPDX-License-Identifier: Apache-2.0

// CommonCryptor.h: operations, algorithms, modes and sizes. All values are Apple's.

/// Encrypt or decrypt.
public typealias CCOperation = UInt32

public let kCCEncrypt = 0
public let kCCDecrypt = 1

/// A cipher. AES, DES and Triple DES are supported.
public typealias CCAlgorithm = UInt32

public let kCCAlgorithmAES128 = 0
/// AES with any of its key sizes, like ``kCCAlgorithmAES128``.
public let kCCAlgorithmAES = 0
public let kCCAlgorithmDES = 1
public let kCCAlgorithm3DES = 2
/// Unsupported, like the following ones.
public let kCCAlgorithmCAST = 3
public let kCCAlgorithmRC4 = 4
public let kCCAlgorithmRC2 = 5
public let kCCAlgorithmBlowfish = 6

/// A set of the bits below; without ``kCCOptionECBMode`` the mode is CBC.
public typealias CCOptions = UInt32

public let kCCOptionPKCS7Padding = 1
public let kCCOptionECBMode = 2

// Key sizes in bytes.
public let kCCKeySizeAES128 = 16
public let kCCKeySizeAES192 = 24
public let kCCKeySizeAES256 = 32
public let kCCKeySizeDES = 8
public let kCCKeySize3DES = 24
public let kCCKeySizeMinCAST = 5
public let kCCKeySizeMaxCAST = 16
public let kCCKeySizeMinRC4 = 1
public let kCCKeySizeMaxRC4 = 512
public let kCCKeySizeMinRC2 = 1
public let kCCKeySizeMaxRC2 = 128
public let kCCKeySizeMinBlowfish = 8
public let kCCKeySizeMaxBlowfish = 56

// Block sizes in bytes.
public let kCCBlockSizeAES128 = 16
public let kCCBlockSizeDES = 8
public let kCCBlockSize3DES = 8
public let kCCBlockSizeCAST = 8
public let kCCBlockSizeRC2 = 8
public let kCCBlockSizeBlowfish = 8

/// A mode of operation (SP 800-38A).
public typealias CCMode = UInt32

public let kCCModeECB = 1
public let kCCModeCBC = 2
public let kCCModeCFB = 3
public let kCCModeCTR = 4
public let kCCModeOFB = 7
/// Unsupported.
public let kCCModeRC4 = 9
public let kCCModeCFB8 = 10

/// The padding of ECB and CBC.
public typealias CCPadding = UInt32

public let ccNoPadding = 0
public let ccPKCS7Padding = 1

/// Ignored, as by Apple: a counter is always big-endian.
public typealias CCModeOptions = UInt32

public let kCCModeOptionCTR_LE = 1
public let kCCModeOptionCTR_BE = 2
