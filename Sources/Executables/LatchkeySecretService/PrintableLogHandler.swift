// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import Logging

/// Writes swift-log's lines to standard error. Messages and metadata are converted to
/// ``PrintableText``, because they contain data from callers.
struct PrintableLogHandler: LogHandler {
    private var stream: StreamLogHandler

    init(label: String) { stream = .standardError(label: label) }

    var logLevel: Logger.Level {
        get { stream.logLevel }
        set { stream.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { stream.metadata }
        set { stream.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { stream[metadataKey: key] }
        set { stream[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        var event = event
        event.message = "\(PrintableText(event.message.description))"
        event.metadata = event.metadata?.mapValues { .string(PrintableText($0.description).string) }
        stream.log(event: event)
    }
}
