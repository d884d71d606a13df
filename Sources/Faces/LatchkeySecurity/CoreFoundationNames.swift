// SPDX-License-Identifier: Apache-2.0

// The type names and constants of Core Foundation. Each CF name is an alias of the Foundation class
// to which it is toll-free bridged on Apple's platforms, never of a value type. Casts (plain,
// conditional and forced) and `Unmanaged` then compile and run as on Apple's platforms
// (apple-compat, decision 1).
//
// Every `nonisolated(unsafe)` in this file stands for one reason: because the constant is an
// immutable object that is never replaced. Foundation on Linux declares these classes non-Sendable
// only because of their mutable subclasses.

public import Foundation

// MARK: Objects

/// Any Core Foundation object.
public typealias CFTypeRef = AnyObject
/// Any object that a property list can hold.
public typealias CFPropertyList = AnyObject

public typealias CFString = NSString
public typealias CFMutableString = NSMutableString
public typealias CFData = NSData
public typealias CFMutableData = NSMutableData
public typealias CFArray = NSArray
public typealias CFMutableArray = NSMutableArray
public typealias CFDictionary = NSDictionary
public typealias CFMutableDictionary = NSMutableDictionary
public typealias CFSet = NSSet
public typealias CFMutableSet = NSMutableSet
public typealias CFDate = NSDate
public typealias CFURL = NSURL
public typealias CFError = NSError
public typealias CFNull = NSNull
public typealias CFLocale = NSLocale
public typealias CFTimeZone = NSTimeZone

/// A number. `CFBoolean` is the same class, so a client cannot declare the same conformance for
/// both.
public typealias CFNumber = NSNumber
/// A Boolean: one of the two objects `kCFBooleanTrue` and `kCFBooleanFalse`.
public typealias CFBoolean = NSNumber

// C names references with `Ref`. Swift on Apple's platforms declares these names only to refer to
// the current ones.
@available(*, deprecated, renamed: "CFString")
public typealias CFStringRef = CFString
@available(*, deprecated, renamed: "CFData")
public typealias CFDataRef = CFData
@available(*, deprecated, renamed: "CFArray")
public typealias CFArrayRef = CFArray
@available(*, deprecated, renamed: "CFDictionary")
public typealias CFDictionaryRef = CFDictionary
@available(*, deprecated, renamed: "CFNumber")
public typealias CFNumberRef = CFNumber
@available(*, deprecated, renamed: "CFBoolean")
public typealias CFBooleanRef = CFBoolean
@available(*, deprecated, renamed: "CFError")
public typealias CFErrorRef = CFError

// MARK: Scalars

/// A count or an index.
public typealias CFIndex = Int
/// The number of a class of objects; see `CFGetTypeID`.
public typealias CFTypeID = UInt
/// A set of bits.
public typealias CFOptionFlags = UInt
/// A hash that `CFHash` returns.
public typealias CFHashCode = UInt
/// The number of a text encoding in Core Foundation, which differs from `String.Encoding`.
public typealias CFStringEncoding = UInt32
/// A duration in seconds.
public typealias CFTimeInterval = Double
/// Seconds since 2001-01-01 00:00:00 UTC.
public typealias CFAbsoluteTime = CFTimeInterval
/// The domain of a `CFError`.
public typealias CFErrorDomain = CFString

/// The result of a Security call: 0 is success, everything else an `errSec…` number.
public typealias OSStatus = Int32
/// Four ASCII characters in one number, the first in the highest byte.
public typealias FourCharCode = UInt32
/// A four-character type or creator code.
public typealias OSType = FourCharCode

public typealias NSInteger = Int
public typealias NSUInteger = UInt

/// C's one-byte `Boolean`.
@frozen
public struct DarwinBoolean: ExpressibleByBooleanLiteral, Hashable, Sendable, CustomStringConvertible {
    private var byte: UInt8

    public init(_ value: Bool) {
        byte = value ? 1 : 0
    }

    public init(booleanLiteral value: Bool) {
        self.init(value)
    }

    public var boolValue: Bool {
        byte != 0
    }

    public var description: String {
        boolValue.description
    }
}

// MARK: Allocators

/// Determines how a buffer is freed. Swift always allocates the memory; the allocator matters only
/// in `CFDataCreateWithBytesNoCopy`.
public final class CFAllocator: NSObject, Sendable {
    let frees: Bool

    init(frees: Bool) {
        self.frees = frees
        super.init()
    }
}

/// The default allocator. It is nil, as on Apple's platforms.
public let kCFAllocatorDefault: CFAllocator! = nil
public let kCFAllocatorSystemDefault: CFAllocator! = CFAllocator(frees: true)
/// Uses `malloc` and `free`.
public let kCFAllocatorMalloc: CFAllocator! = CFAllocator(frees: true)
/// Never frees: for buffers with another owner.
public let kCFAllocatorNull: CFAllocator! = CFAllocator(frees: false)

// MARK: Constants

public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
public let kCFNull: CFNull! = NSNull()

nonisolated(unsafe) public let kCFErrorDomainOSStatus: CFErrorDomain! = "NSOSStatusErrorDomain"
nonisolated(unsafe) public let kCFErrorDomainPOSIX: CFErrorDomain! = "NSPOSIXErrorDomain"
nonisolated(unsafe) public let kCFErrorDomainCocoa: CFErrorDomain! = "NSCocoaErrorDomain"
nonisolated(unsafe) public let kCFErrorDomainMach: CFErrorDomain! = "NSMachErrorDomain"

nonisolated(unsafe) public let kCFErrorLocalizedDescriptionKey: CFString! = "NSLocalizedDescription"
nonisolated(unsafe) public let kCFErrorLocalizedFailureReasonKey: CFString! = "NSLocalizedFailureReason"
nonisolated(unsafe) public let kCFErrorLocalizedRecoverySuggestionKey: CFString! = "NSLocalizedRecoverySuggestion"
nonisolated(unsafe) public let kCFErrorDescriptionKey: CFString! = "NSDescription"
nonisolated(unsafe) public let kCFErrorUnderlyingErrorKey: CFString! = "NSUnderlyingError"

nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
nonisolated(unsafe) public let kCFBundleNameKey: CFString! = "CFBundleName"
nonisolated(unsafe) public let kCFBundleVersionKey: CFString! = "CFBundleVersion"
nonisolated(unsafe) public let kCFBundleExecutableKey: CFString! = "CFBundleExecutable"
nonisolated(unsafe) public let kCFBundleInfoDictionaryVersionKey: CFString! = "CFBundleInfoDictionaryVersion"
nonisolated(unsafe) public let kCFBundleDevelopmentRegionKey: CFString! = "CFBundleDevelopmentRegion"
nonisolated(unsafe) public let kCFBundleLocalizationsKey: CFString! = "CFBundleLocalizations"
