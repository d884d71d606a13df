// SPDX-License-Identifier: Apache-2.0

// The type names and constants of Core Foundation. Each CF name is an alias of the Foundation class that is toll-free
// bridged to it on Apple's platforms, never of a value type. Casts (plain, conditional and forced) and `Unmanaged` then
// compile and run as on Apple's platforms (apple-compat, decision 1).
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

/// Core Foundation's name of `NSString`.
public typealias CFString = NSString
/// Core Foundation's name of `NSMutableString`.
public typealias CFMutableString = NSMutableString
/// Core Foundation's name of `NSData`.
public typealias CFData = NSData
/// Core Foundation's name of `NSMutableData`.
public typealias CFMutableData = NSMutableData
/// Core Foundation's name of `NSArray`.
public typealias CFArray = NSArray
/// Core Foundation's name of `NSMutableArray`.
public typealias CFMutableArray = NSMutableArray
/// Core Foundation's name of `NSDictionary`.
public typealias CFDictionary = NSDictionary
/// Core Foundation's name of `NSMutableDictionary`.
public typealias CFMutableDictionary = NSMutableDictionary
/// Core Foundation's name of `NSSet`.
public typealias CFSet = NSSet
/// Core Foundation's name of `NSMutableSet`.
public typealias CFMutableSet = NSMutableSet
/// Core Foundation's name of `NSDate`.
public typealias CFDate = NSDate
/// Core Foundation's name of `NSURL`.
public typealias CFURL = NSURL
/// Core Foundation's name of `NSError`.
public typealias CFError = NSError
/// Core Foundation's name of `NSNull`.
public typealias CFNull = NSNull
/// Core Foundation's name of `NSLocale`.
public typealias CFLocale = NSLocale
/// Core Foundation's name of `NSTimeZone`.
public typealias CFTimeZone = NSTimeZone

/// A number. `CFBoolean` is the same class, so a client cannot declare the same conformance for
/// both.
public typealias CFNumber = NSNumber
/// A Boolean: one of the two objects `kCFBooleanTrue` and `kCFBooleanFalse`.
public typealias CFBoolean = NSNumber

// C names references with `Ref`. Swift on Apple's platforms declares these names only to refer to
// the current ones.
/// The C name of ``CFString``.
@available(*, deprecated, renamed: "CFString")
public typealias CFStringRef = CFString
/// The C name of ``CFData``.
@available(*, deprecated, renamed: "CFData")
public typealias CFDataRef = CFData
/// The C name of ``CFArray``.
@available(*, deprecated, renamed: "CFArray")
public typealias CFArrayRef = CFArray
/// The C name of ``CFDictionary``.
@available(*, deprecated, renamed: "CFDictionary")
public typealias CFDictionaryRef = CFDictionary
/// The C name of ``CFNumber``.
@available(*, deprecated, renamed: "CFNumber")
public typealias CFNumberRef = CFNumber
/// The C name of ``CFBoolean``.
@available(*, deprecated, renamed: "CFBoolean")
public typealias CFBooleanRef = CFBoolean
/// The C name of ``CFError``.
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
/// The number of a text encoding in Core Foundation. It differs from `String.Encoding`.
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

/// Objective-C's name of `Int`.
public typealias NSInteger = Int
/// Objective-C's name of `UInt`.
public typealias NSUInteger = UInt

/// C's one-byte `Boolean`.
@frozen
public struct DarwinBoolean: ExpressibleByBooleanLiteral, Hashable, Sendable, CustomStringConvertible {
    private var byte: UInt8

    /// Creates a Boolean from Swift's.
    public init(_ value: Bool) {
        byte = value ? 1 : 0
    }

    /// Creates a Boolean from a literal.
    public init(booleanLiteral value: Bool) {
        self.init(value)
    }

    /// Swift's value.
    public var boolValue: Bool {
        byte != 0
    }

    /// `true` or `false`.
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
/// Uses `malloc` and `free`, as the default allocator does.
public let kCFAllocatorSystemDefault: CFAllocator! = CFAllocator(frees: true)
/// Uses `malloc` and `free`.
public let kCFAllocatorMalloc: CFAllocator! = CFAllocator(frees: true)
/// Never frees: for buffers with another owner.
public let kCFAllocatorNull: CFAllocator! = CFAllocator(frees: false)

// MARK: Constants

/// True.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
/// False.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
/// The null object.
public let kCFNull: CFNull! = NSNull()

/// The domain of `OSStatus` codes: `NSOSStatusErrorDomain`.
nonisolated(unsafe) public let kCFErrorDomainOSStatus: CFErrorDomain! = "NSOSStatusErrorDomain"
/// The domain of `errno` codes: `NSPOSIXErrorDomain`.
nonisolated(unsafe) public let kCFErrorDomainPOSIX: CFErrorDomain! = "NSPOSIXErrorDomain"
/// The domain of Foundation's codes: `NSCocoaErrorDomain`.
nonisolated(unsafe) public let kCFErrorDomainCocoa: CFErrorDomain! = "NSCocoaErrorDomain"
/// The domain of the Mach kernel's codes: `NSMachErrorDomain`.
nonisolated(unsafe) public let kCFErrorDomainMach: CFErrorDomain! = "NSMachErrorDomain"

/// The key of the description for the user, a string.
nonisolated(unsafe) public let kCFErrorLocalizedDescriptionKey: CFString! = "NSLocalizedDescription"
/// The key of the reason for the user, a string.
nonisolated(unsafe) public let kCFErrorLocalizedFailureReasonKey: CFString! = "NSLocalizedFailureReason"
/// The key of the suggestion for the user, a string.
nonisolated(unsafe) public let kCFErrorLocalizedRecoverySuggestionKey: CFString! = "NSLocalizedRecoverySuggestion"
/// The key of the description for developers, a string.
nonisolated(unsafe) public let kCFErrorDescriptionKey: CFString! = "NSDescription"
/// The key of the error that caused this one.
nonisolated(unsafe) public let kCFErrorUnderlyingErrorKey: CFString! = "NSUnderlyingError"

/// The key of the identifier in `Info.plist`, a string.
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
/// The key of the name in `Info.plist`, a string.
nonisolated(unsafe) public let kCFBundleNameKey: CFString! = "CFBundleName"
/// The key of the build's version in `Info.plist`, a string.
nonisolated(unsafe) public let kCFBundleVersionKey: CFString! = "CFBundleVersion"
/// The key of the name of the executable in `Info.plist`, a string.
nonisolated(unsafe) public let kCFBundleExecutableKey: CFString! = "CFBundleExecutable"
/// The key of the version of `Info.plist` itself, a string.
nonisolated(unsafe) public let kCFBundleInfoDictionaryVersionKey: CFString! = "CFBundleInfoDictionaryVersion"
/// The key of the language of development in `Info.plist`, a string.
nonisolated(unsafe) public let kCFBundleDevelopmentRegionKey: CFString! = "CFBundleDevelopmentRegion"
/// The key of the languages in `Info.plist`, an array of strings.
nonisolated(unsafe) public let kCFBundleLocalizationsKey: CFString! = "CFBundleLocalizations"
