import BackgrounderAPI
import Foundation
import Places
import PlacesSimulation
import SystemSupport

// Prints the figures of one part as a JSON object. Benchmarks/places.py shows them.
let arguments = CommandLine.arguments.dropFirst()
guard let part = arguments.first, let scale = arguments.dropFirst().first.flatMap(Double.init) else {
    print("usage: places-benchmark stand|visits|latency|passes|stops|routes|cost|cases|compare SCALE [FILE]")
    exit(64)
}
let file = arguments.dropFirst(2).first ?? ""

func show(_ figures: some Encodable) throws {
    print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
}

switch part {
case "stand": try show(Simulations.stand(hours: 64 * scale))
case "visits": try show(Simulations.visits(count: Int(1_000 * scale)))
case "latency": try show(Simulations.latency(count: Int(2_000 * scale)))
case "passes": try show(Simulations.passes(count: Int(10_000 * scale)))
case "stops": try show(Simulations.stops(lines: Int(50 * scale)))
case "routes": try show(Simulations.routes(runs: Int(120 * scale)))
case "cost": try show(Cost.figures(fixes: Int(200_000 * scale), path: file))
case "cases": try show(ShapeReference(count: Int(10_000 * scale), seed: 1).task)
case "compare":
    let answers = try JSONDecoder().decode(
        ShapeReference.Answers.self,
        from: try Data(contentsOf: URL(fileURLWithPath: file))
    )
    try show(ShapeReference(count: Int(10_000 * scale), seed: 1).compare(answers))
default:
    print("unknown part \(part)")
    exit(64)
}
