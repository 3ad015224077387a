/// The topics of a fleet, apart from those of OwnTracks.
package enum FleetTopics {
    /// The beginning of the topics of one machine.
    package static func machine(_ id: MachineID) -> String { "backgrounder/v1/\(id)/" }

    /// The topic of commands to one machine.
    package static func commands(to id: MachineID) -> String { machine(id) + "cmd" }

    /// The topic of commands to the machines of a group.
    package static func commands(toGroup group: MachineID) -> String { "backgrounder/v1/group/\(group)/cmd" }

    /// The topic of a machine's replies.
    package static func replies(of id: MachineID) -> String { machine(id) + "reply" }

    /// The topic of a machine's status document.
    package static func status(of id: MachineID) -> String { machine(id) + "status" }

    /// The replies of all machines.
    package static let allReplies = "backgrounder/v1/+/reply"
    /// The status documents of all machines.
    package static let allStatuses = "backgrounder/v1/+/status"
}
