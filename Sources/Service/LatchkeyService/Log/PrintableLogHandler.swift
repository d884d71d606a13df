// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
package import Logging

/// Writes swift-log's lines to standard error, for the services. Messages and metadata are converted to
/// ``PrintableText``, because they contain data from callers.
package struct PrintableLogHandler: LogHandler {
    private var stream: StreamLogHandler

    package init(label: String) { stream = .standardError(label: label) }

    package var logLevel: Logger.Level {
        get { stream.logLevel }
        set { stream.logLevel = newValue }
    }

    package var metadata: Logger.Metadata {
        get { stream.metadata }
        set { stream.metadata = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { stream[metadataKey: key] }
        set { stream[metadataKey: key] = newValue }
    }

    package func log(event: LogEvent) {
        var event = event
        event.message = "\(PrintableText(event.message.description))"
        event.metadata = event.metadata?.mapValues { .string(PrintableText($0.description).string) }
        stream.log(event: event)
    }
}
