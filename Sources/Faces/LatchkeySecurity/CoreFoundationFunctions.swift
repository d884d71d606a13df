// SPDX-License-Identifier: Apache-2.0

// The functions of Core Foundation for programs that use Security. All are total: input that crashes Core Foundation
// (nil, an index out of range, an object of another class) gives nil, false or 0 here. A pointer that does not point to
// an object cannot be detected.
//
// Object parameters have the type `Any?`, so that Swift values can be passed without a cast. On
// Apple's platforms bridging does this.

public import Foundation

// MARK: Type numbers

/// The numbers that `CFGetTypeID` returns for each class of objects. Only their equality is
/// meaningful; 0 is "unknown".
enum TypeIdentifier: CFTypeID, CaseIterable {
    case null = 1
    case boolean
    case number
    case string
    case data
    case date
    case url
    case uuid
    case array
    case dictionary
    case set
    case error
    case locale
    case timeZone
    case allocator
    case key
    case certificate
    case identity
    case trust
    case policy
    case accessControl
    case messageEncoder
    case messageDecoder
    case keychain
    case keychainItem
    case access
    case trustedApplication
}

/// A class of this module that is a Core Foundation type on Apple's platforms.
protocol CoreFoundationType: AnyObject {
    static var typeID: CFTypeID { get }
}

extension CFAllocator: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.allocator.rawValue }
}

/// Returns the number of the object's class, for comparison with the result of
/// `CFStringGetTypeID()` and similar functions; 0 for an unknown class.
///
/// A `Bool` is a boolean, not a number, as on Apple's platforms.
@discardableResult
public func CFGetTypeID(_ cf: Any?) -> CFTypeID {
    guard let cf else { return 0 }
    // `as AnyObject` turns String into NSString, Int into NSNumber and so on; a value without a
    // Foundation counterpart is boxed.
    let object = cf as AnyObject
    if let ours = object as? any CoreFoundationType { return type(of: ours).typeID }
    return foundationType(of: object, boxing: cf)?.rawValue ?? 0
}

private func foundationType(of object: AnyObject, boxing value: Any) -> TypeIdentifier? {
    switch object {
    case is NSString: .string
    case is NSData: .data
    // Foundation on Linux has one object for true and one for false, so identity distinguishes them
    // from the numbers 1 and 0.
    case let number as NSNumber: number === kCFBooleanTrue || number === kCFBooleanFalse ? .boolean : .number
    case is NSDictionary: .dictionary
    case is NSArray: .array
    case is NSSet: .set
    case is NSDate: .date
    case is NSError: .error
    case is NSURL: .url
    case is NSNull: .null
    case is NSUUID: .uuid
    case is NSLocale: .locale
    case is NSTimeZone: .timeZone
    default: value is any Error ? .error : nil
    }
}

/// Returns the type number of `CFNull`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFNullGetTypeID() -> CFTypeID { TypeIdentifier.null.rawValue }
/// Returns the type number of `CFBoolean`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFBooleanGetTypeID() -> CFTypeID { TypeIdentifier.boolean.rawValue }
/// Returns the type number of `CFNumber`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFNumberGetTypeID() -> CFTypeID { TypeIdentifier.number.rawValue }
/// Returns the type number of `CFString`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFStringGetTypeID() -> CFTypeID { TypeIdentifier.string.rawValue }
/// Returns the type number of `CFData`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFDataGetTypeID() -> CFTypeID { TypeIdentifier.data.rawValue }
/// Returns the type number of `CFDate`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFDateGetTypeID() -> CFTypeID { TypeIdentifier.date.rawValue }
/// Returns the type number of `CFURL`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFURLGetTypeID() -> CFTypeID { TypeIdentifier.url.rawValue }
/// Returns the type number of `CFUUID`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFUUIDGetTypeID() -> CFTypeID { TypeIdentifier.uuid.rawValue }
/// Returns the type number of `CFArray`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFArrayGetTypeID() -> CFTypeID { TypeIdentifier.array.rawValue }
/// Returns the type number of `CFDictionary`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFDictionaryGetTypeID() -> CFTypeID { TypeIdentifier.dictionary.rawValue }
/// Returns the type number of `CFSet`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFSetGetTypeID() -> CFTypeID { TypeIdentifier.set.rawValue }
/// Returns the type number of `CFError`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFErrorGetTypeID() -> CFTypeID { TypeIdentifier.error.rawValue }
/// Returns the type number of `CFLocale`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFLocaleGetTypeID() -> CFTypeID { TypeIdentifier.locale.rawValue }
/// Returns the type number of `CFTimeZone`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFTimeZoneGetTypeID() -> CFTypeID { TypeIdentifier.timeZone.rawValue }
/// Returns the type number of `CFAllocator`, for comparison with ``CFGetTypeID(_:)``.
@discardableResult public func CFAllocatorGetTypeID() -> CFTypeID { TypeIdentifier.allocator.rawValue }

// MARK: Every object

/// Returns whether two objects have the same type and equal content. `true` is not equal to 1, and
/// a string is not equal to its bytes.
@discardableResult
public func CFEqual(_ cf1: Any?, _ cf2: Any?) -> Bool {
    guard let cf1, let cf2 else { return cf1 == nil && cf2 == nil }
    guard CFGetTypeID(cf1) == CFGetTypeID(cf2) else { return false }
    let (first, second) = (cf1 as AnyObject, cf2 as AnyObject)
    guard let object = first as? NSObject else { return first === second }
    return object.isEqual(second)
}

/// Returns a hash; equal objects have equal hashes.
@discardableResult
public func CFHash(_ cf: Any?) -> CFHashCode {
    guard let cf else { return 0 }
    let object = cf as AnyObject
    return CFHashCode(bitPattern: (object as? NSObject)?.hash ?? ObjectIdentifier(object).hashValue)
}

/// Returns a description of the object for developers.
@discardableResult
public func CFCopyDescription(_ cf: Any?) -> CFString! {
    cf.map { NSString(string: String(describing: $0)) }
}

/// Returns the object unchanged, because Swift counts references itself. Apple's Swift declares
/// this function only as unavailable.
@discardableResult
public func CFRetain(_ cf: Any?) -> CFTypeRef! {
    cf.map { $0 as AnyObject }
}

/// Does nothing; see `CFRetain`.
public func CFRelease(_ cf: Any?) {}

/// Runs `body`. Apple's platforms drain an autorelease pool afterwards; Linux has none.
@discardableResult
public func autoreleasepool<Failure: Error, Result: ~Copyable>(invoking body: () throws(Failure) -> Result)
    throws(Failure) -> Result
{
    try body()
}

/// Returns the seconds since 2001-01-01 00:00:00 UTC, from the adjustable system clock.
@discardableResult
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime {
    Date().timeIntervalSinceReferenceDate
}

// MARK: Errors

/// Returns an error; nil without a domain.
@discardableResult
public func CFErrorCreate(
    _ allocator: CFAllocator?, _ domain: CFErrorDomain?, _ code: CFIndex, _ userInfo: CFDictionary?
) -> CFError! {
    guard let domain else { return nil }
    return NSError(domain: domain as String, code: code, userInfo: userInfo as? [String: Any] ?? [:])
}

/// Returns the code; 0 for nil.
@discardableResult
public func CFErrorGetCode(_ err: CFError?) -> CFIndex {
    err?.code ?? 0
}

/// Returns the domain; nil for nil.
@discardableResult
public func CFErrorGetDomain(_ err: CFError?) -> CFErrorDomain! {
    err.map { NSString(string: $0.domain) }
}

/// Returns the further information about the error; nil for nil.
@discardableResult
public func CFErrorCopyUserInfo(_ err: CFError?) -> CFDictionary! {
    err.map { NSDictionary(dictionary: $0.userInfo) }
}

/// Returns a description of the error for the user.
@discardableResult
public func CFErrorCopyDescription(_ err: CFError?) -> CFString! {
    err.map { NSString(string: $0.localizedDescription) }
}

// MARK: Data

/// Returns a copy of `length` bytes; nil for a negative length, or for a null pointer with a length
/// above 0.
@discardableResult
public func CFDataCreate(_ allocator: CFAllocator?, _ bytes: UnsafePointer<UInt8>?, _ length: CFIndex) -> CFData! {
    guard length > 0 else { return length == 0 ? NSData() : nil }
    return bytes.map { NSData(bytes: $0, length: length) }
}

/// Returns data that uses the caller's own bytes. `free` releases the bytes together with the data,
/// unless the deallocator is `kCFAllocatorNull`; then the bytes must outlive the data.
@discardableResult
public func CFDataCreateWithBytesNoCopy(
    _ allocator: CFAllocator?,
    _ bytes: UnsafePointer<UInt8>?,
    _ length: CFIndex,
    _ bytesDeallocator: CFAllocator?
) -> CFData! {
    guard length >= 0, let bytes else { return length == 0 ? NSData() : nil }
    return NSData(
        bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), length: length,
        freeWhenDone: bytesDeallocator?.frees ?? true)
}

/// Returns empty mutable data. The capacity is a hint.
@discardableResult
public func CFDataCreateMutable(_ allocator: CFAllocator?, _ capacity: CFIndex) -> CFMutableData! {
    capacity >= 0 ? NSMutableData() : nil
}

/// Returns the number of bytes; 0 for nil.
@discardableResult
public func CFDataGetLength(_ theData: CFData?) -> CFIndex {
    theData?.length ?? 0
}

/// Returns a pointer to the bytes, valid while the data lives and does not change.
@discardableResult
public func CFDataGetBytePtr(_ theData: CFData?) -> UnsafePointer<UInt8>! {
    theData?.bytes.assumingMemoryBound(to: UInt8.self)
}

/// Returns a pointer for writing to the bytes, valid while the data lives and keeps its length.
@discardableResult
public func CFDataGetMutableBytePtr(_ theData: CFMutableData?) -> UnsafeMutablePointer<UInt8>! {
    theData?.mutableBytes.assumingMemoryBound(to: UInt8.self)
}

/// Truncates the data, or extends it with zeros.
public func CFDataSetLength(_ theData: CFMutableData?, _ length: CFIndex) {
    guard length >= 0 else { return }
    theData?.length = length
}

/// Appends `length` bytes; does nothing for a null pointer or a length that is not positive.
public func CFDataAppendBytes(_ theData: CFMutableData?, _ bytes: UnsafePointer<UInt8>?, _ length: CFIndex) {
    guard length > 0, let bytes else { return }
    theData?.append(bytes, length: length)
}

// MARK: Arrays, dictionaries, booleans

/// Returns the number of elements; 0 for nil.
@discardableResult
public func CFArrayGetCount(_ theArray: CFArray?) -> CFIndex {
    theArray?.count ?? 0
}

/// Returns a pointer to the element, for `Unmanaged.fromOpaque` or `unsafeBitCast`; nil if the
/// index is out of range.
@discardableResult
public func CFArrayGetValueAtIndex(_ theArray: CFArray?, _ idx: CFIndex) -> UnsafeRawPointer! {
    guard let theArray, idx >= 0, idx < theArray.count else { return nil }
    return pointer { theArray.object(at: idx) }
}

/// Returns the number of entries; 0 for nil.
@discardableResult
public func CFDictionaryGetCount(_ theDict: CFDictionary?) -> CFIndex {
    theDict?.count ?? 0
}

/// Returns a pointer to the value for the key that `key` points to; nil if there is none.
@discardableResult
public func CFDictionaryGetValue(_ theDict: CFDictionary?, _ key: UnsafeRawPointer?) -> UnsafeRawPointer! {
    guard let theDict, let key else { return nil }
    let object = Unmanaged<AnyObject>.fromOpaque(key).takeUnretainedValue()
    guard theDict.object(forKey: object) != nil else { return nil }
    return pointer { theDict.object(forKey: object) as Any }
}

/// Returns the value; false for nil.
@discardableResult
public func CFBooleanGetValue(_ boolean: CFBoolean?) -> Bool {
    boolean?.boolValue ?? false
}

/// Returns a pointer to an object that a collection holds and keeps alive.
///
/// Foundation on Linux returns a string or a number as a Swift value. Each fetch then creates a new
/// object that nothing keeps alive. This function detects such an object by fetching twice and
/// comparing the objects. It retains the object permanently, because a leak is better than a
/// dangling pointer.
private func pointer(fetch: () -> Any) -> UnsafeRawPointer {
    let object = fetch() as AnyObject
    let isHeld = object === fetch() as AnyObject
    return UnsafeRawPointer(
        isHeld ? Unmanaged.passUnretained(object).toOpaque() : Unmanaged.passRetained(object).toOpaque())
}

// MARK: Text encodings

/// Returns the Core Foundation number of an encoding given as `String.Encoding.rawValue`;
/// `0xFFFF_FFFF` for an unknown encoding.
@discardableResult
public func CFStringConvertNSStringEncodingToEncoding(_ encoding: UInt) -> CFStringEncoding {
    textEncodings.first { $0.foundation == encoding }?.coreFoundation ?? .max
}

/// Returns the IANA name of an encoding, such as `utf-8`; nil for an unknown encoding.
@discardableResult
public func CFStringConvertEncodingToIANACharSetName(_ encoding: CFStringEncoding) -> CFString! {
    textEncodings.first { $0.coreFoundation == encoding }?.name.map { NSString(string: $0) }
}

/// The encodings of `String.Encoding`, with their numbers in Foundation and in Core Foundation.
private let textEncodings: [(foundation: UInt, coreFoundation: CFStringEncoding, name: String?)] = [
    (1, 0x0600, "us-ascii"),
    (2, 0x0B01, "x-nextstep"),
    (3, 0x0920, "euc-jp"),
    (4, 0x0800_0100, "utf-8"),
    (5, 0x0201, "iso-8859-1"),
    (6, 0x0021, "x-mac-symbol"),
    (7, 0x0BFF, nil),
    (8, 0x0420, "cp932"),
    (9, 0x0202, "iso-8859-2"),
    (10, 0x0100, "utf-16"),
    (11, 0x0502, "windows-1251"),
    (12, 0x0500, "windows-1252"),
    (13, 0x0503, "windows-1253"),
    (14, 0x0504, "windows-1254"),
    (15, 0x0501, "windows-1250"),
    (21, 0x0820, "iso-2022-jp"),
    (30, 0, "macintosh"),
    (0x9000_0100, 0x1000_0100, "utf-16be"),
    (0x9400_0100, 0x1400_0100, "utf-16le"),
    (0x8C00_0100, 0x0C00_0100, "utf-32"),
    (0x9800_0100, 0x1800_0100, "utf-32be"),
    (0x9C00_0100, 0x1C00_0100, "utf-32le"),
]
