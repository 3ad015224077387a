package import SystemSupport

extension TextBuffer {
    /// Appends `<+37.33482105,-122.03350886> +/- 5.00m (speed 15.90 mps / course 255.94) @ 2014-12-22T04:05:13.000Z`, without unknown
    /// values.
    package mutating func append(_ location: Location) {
        append(withoutTime: location)
        append(" @ ")
        append(location.timestamp)
    }

    /// Appends `<+37.33482105,-122.03350886> +/- 5.00m (speed 15.90 mps / course 255.94)`, without unknown values.
    package mutating func append(withoutTime location: Location) {
        append("<")
        append(location.latitude, places: 8, signed: true)
        append(",")
        append(location.longitude, places: 8, signed: true)
        append(">")
        if let accuracy = location.horizontalAccuracy {
            append(" +/- ")
            append(accuracy, places: 2)
            append("m")
        }
        if let speed = location.speed {
            append(" (speed ")
            append(speed, places: 2)
            append(" mps")
        }
        if let course = location.course {
            append(location.speed == nil ? " (course " : " / course ")
            append(course, places: 2)
        }
        if location.speed != nil || location.course != nil { append(")") }
    }
}
