/// Request bodies at the allowed limits and just beyond. Those that depend on the state may not get a 422.
enum BoundaryBodies {
    static let all: [(method: String, path: String, bodies: [String])] = [
        (
            "PATCH", "/v1/location",
            [
                #"{"distanceFilter":20037508}"#, #"{"distanceFilter":20037509}"#, #"{"maximumAccuracy":20037508}"#,
                #"{"maximumAccuracy":20037509}"#, #"{"distanceFilter":0,"maximumAccuracy":null}"#,
            ]
        ),
        (
            "POST", "/v1/track/import",
            [
                #"{"path":"nowhere"}"#, #"{"path":"/no\u0000where"}"#, #"{"path":"/nowhere","raw":true}"#,
                #"{"path":"/nowhere","raw":true,"jitterGuard":true}"#,
                #"{"path":"/nowhere","raw":false,"jitterGuard":true}"#,
                #"{"path":"/nowhere","distanceFilter":20037509}"#, #"{"path":"/nowhere","maximumAccuracy":20037509}"#,
            ]
        ),
        ("POST", "/v1/audio/play", [#"{"items":["/no\u0000where"]}"#, #"{"items":["a"]}"#, #"{"id":1.5}"#]),
        (
            "POST", "/v1/audio/interrupt",
            [
                #"{"item":"/nowhere","priority":1e30}"#, #"{"item":"/nowhere","priority":9007199254740991}"#,
                #"{"item":""}"#,
            ]
        ),
        ("POST", "/v1/audio/seek", [#"{"to":10000000}"#, #"{"to":10000001}"#, #"{"by":10000001}"#, #"{"by":-1e300}"#]),
        (
            "POST", "/v1/queue",
            [
                #"{"items":["/a"],"position":0,"after":"current"}"#, #"{"items":["a"]}"#,
                #"{"items":["/a"],"after":"last"}"#,
            ]
        ),
        ("POST", "/v1/queue/remove", [#"{"ids":["1"]}"#, #"{"ids":[1.5]}"#, #"{"ids":[-1]}"#]),
        (
            "POST", "/v1/fetch",
            [
                named(#""command":["true"]"#, "-a"), named(#""command":["true"]"#, "a b"),
                named(#""command":["true"]"#, "ü.b"),
                named(#""command":["true"]"#, String(repeating: "a", count: 64)),
                named(#""command":["true"]"#, String(repeating: "a", count: 65)),
                named(#""command":["true"]"#, String(repeating: "ü", count: 33)),
                named(#""command":["true"]"#, "a\\u202eb"),
                named(#""command":[""]"#), named(#""command":["a\u0000"]"#),
                named(#""command":["true"],"url":"https://h/""#),
                named(#""url":"https://h:65535/""#, "p"), named(#""url":"https://h:65536/""#),
                named(#""url":"https://u@h/""#),
                named(#""url":"https://h/a b""#), named(#""url":"HTTPS://h""#, "q"), named(#""url":"https://""#),
                named(#""command":["true"],"directory":"a""#), named(#""command":["true"],"interval":31536001"#),
                named(#""command":["true"],"budget":30.5"#), named(#""command":["true"],"download":"/d""#),
                named(#""url":"https://h/","kind":"raw","download":"/d""#),
                named(#""url":"https://h/","download":"/d""#),
                named(#""url":"https://h/\#(String(repeating: "a", count: 2040))""#),
            ]
        ),
        (
            "PATCH", "/v1/refresh",
            [
                #"{"enabled":true,"untilOpen":true,"source":"a"}"#, #"{"enabled":false,"untilOpen":true}"#,
                #"{"enabled":false,"untilOpen":true,"source":"none"}"#,
            ]
        ),
        (
            "POST", "/v1/task-hooks",
            [
                named(#""command":["true"]"#, String(repeating: "a", count: 100)),
                named(#""command":["true"]"#, String(repeating: "a", count: 101)),
                named(#""command":["true"]"#, String(repeating: "😀", count: 100)),
                named(#""command":["true"]"#, "a\\nb"), named(#""command":[""]"#), named(#""command":["a\u0000"]"#),
                named(#""command":["\#(String(repeating: "a", count: 65_536))"]"#),
                named(#""command":["\#(String(repeating: "a", count: 65_535))"]"#, "long"),
                named(#""command":["true"],"directory":"/\#(String(repeating: "a", count: 4_095))""#),
                named(#""command":["true"],"budget":0.0001"#),
                named(#""command":["true"],"budget":600,"grace":0.001"#, "b"),
            ]
        ),
        (
            "POST", "/v1/transfers",
            [
                transfer(#""sha256":"\#(String(repeating: "a", count: 63))""#),
                transfer(#""sha256":"\#(String(repeating: "A", count: 64))""#), transfer(#""sizeMax":0"#),
                transfer(#""session":"a/b""#), transfer(#""session":"""#),
                transfer(#""session":"\#(String(repeating: "ü", count: 51))""#),
                #"{"url":"https://h/a b","destination":"/etc/x"}"#, #"{"url":"https:///x","destination":"/etc/x"}"#,
                #"{"url":"https://h:0/","destination":"/etc/x"}"#, #"{"url":"https://h/","destination":"/etc/\u0000"}"#,
            ]
        ),
        ("POST", "/v1/sessions/nobody/ack", [#"{"seq":1.5}"#, #"{"seq":"1"}"#]),
        (
            "POST", "/v1/push",
            [
                push("mqtt://b:65535", "t", "a1"), push("mqtt://b:65536", "t"), push("mqtt://b:0", "t"),
                push("mqtt://-b", "t"),
                push("mqtt://[::1]:1", "t", "a2"), push("mqtt://[b]", "t"), push("http://b", "t"),
                push("mqtts://b/", "#", "a3"),
                push("mqtt://b", "a/+/#", "a4"), push("mqtt://b", "a+"), push("mqtt://b", "#/a"),
                push("mqtt://b", "a\\nb"),
                push("mqtt://b", String(repeating: "ü", count: 513)), push("mqtt://b", "t", "a b"),
                #"{"name":"a","url":"mqtt://b","topic":"t","credentials":"c"}"#,
            ]
        ),
    ]

    private static func named(_ rest: String, _ name: String = "a") -> String { #"{"name":"\#(name)",\#(rest)}"# }

    private static func transfer(_ rest: String) -> String { #"{"url":"https://h/","destination":"/etc/x",\#(rest)}"# }

    private static func push(_ url: String, _ topic: String, _ name: String = "a") -> String {
        #"{"name":"\#(name)","url":"\#(url)","topic":"\#(topic)"}"#
    }
}
