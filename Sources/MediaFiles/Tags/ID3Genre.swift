/// The numbered genres of ID3v1 (https://id3.org/id3v2.3.0, appendix A).
enum ID3Genre {
    private static let names = """
        Blues,Classic Rock,Country,Dance,Disco,Funk,Grunge,Hip-Hop,Jazz,Metal,New Age,Oldies,Other,Pop,R&B,Rap,Reggae,\
        Rock,Techno,Industrial,Alternative,Ska,Death Metal,Pranks,Soundtrack,Euro-Techno,Ambient,Trip-Hop,Vocal,\
        Jazz+Funk,Fusion,Trance,Classical,Instrumental,Acid,House,Game,Sound Clip,Gospel,Noise,AlternRock,Bass,Soul,\
        Punk,Space,Meditative,Instrumental Pop,Instrumental Rock,Ethnic,Gothic,Darkwave,Techno-Industrial,Electronic,\
        Pop-Folk,Eurodance,Dream,Southern Rock,Comedy,Cult,Gangsta,Top 40,Christian Rap,Pop/Funk,Jungle,\
        Native American,Cabaret,New Wave,Psychadelic,Rave,Showtunes,Trailer,Lo-Fi,Tribal,Acid Punk,Acid Jazz,Polka,\
        Retro,Musical,Rock & Roll,Hard Rock
        """.split(separator: ",").map(String.init)

    static func name(_ number: Int) -> String? { names.indices.contains(number) ? names[number] : nil }

    /// Returns the genre of an ID3v2 text, which may be `17`, `(17)` or `(17)Rock`.
    static func name(_ text: String) -> String {
        if let number = Int(text) { return name(number) ?? text }
        guard text.first == "(", let close = text.firstIndex(of: ")") else { return text }
        let rest = text[text.index(after: close)...]
        if !rest.isEmpty { return String(rest) }
        return Int(text[text.index(after: text.startIndex)..<close]).flatMap { name($0) } ?? text
    }
}
