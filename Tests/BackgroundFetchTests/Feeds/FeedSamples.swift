/// Feeds modelled on real ones, with their oddities.
enum FeedSamples {
    static let rss = """
        <?xml version="1.0" encoding="UTF-8"?>
        <?xml-stylesheet type="text/xsl" href="/rss.xsl"?>
        <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/"
             xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/">
        <channel>
          <atom:link href="https://news.example/feeds/all.xml" rel="self" type="application/rss+xml"/>
          <image><title>Not this</title><url>https://news.example/logo.png</url></image>
          <title>Harbour &amp; Coast</title>
          <link>https://news.example/</link>
          <ttl> 60 </ttl>
          <item>
            <title><![CDATA[Storm warning for &#8220;Skagerrak&#8221; &amp; <b>Kattegat</b>]]></title>
            <link>https://news.example/storm?a=1&amp;b=2</link>
            <guid isPermaLink="false">tag:news.example,2026:1</guid>
            <pubDate>Fri, 21 Nov 2026 06:55:49 GMT</pubDate>
            <media:content url="https://cdn.example/storm.jpg" medium="image"><media:title>Nor this</media:title></media:content>
            <enclosure url="/media/storm.mp3" length="123456" type="audio/mpeg"/>
            <enclosure url="https://cdn.example/storm.jpg" length="0" type="image/jpeg"/>
            <enclosure url="file:///etc/passwd" length="1" type="text/plain"/>
          </item>
          <item>
            <title>A &lt;T&gt; for &lt;em&gt;everyone&lt;/em&gt;: 1 &lt; 2</title>
            <guid>https://news.example/generics</guid>
            <pubDate>yesterday</pubDate>
            <dc:date>2026-11-20T10:00:00Z</dc:date>
          </item>
          <item>
            <title>Ferry
               to   Frederikshavn late</title>
            <link>https://news.example/ferry</link>
            <pubDate></pubDate>
            <dc:date>2026-11-20T10:00:00Z</dc:date>
          </item>
          <item><description>&lt;p&gt;A note without a title&lt;/p&gt;</description></item>
          <item><title>Twice</title><guid isPermaLink="false">t</guid></item>
          <item><title>Twice again</title><guid isPermaLink="false">t</guid></item>
          <item/>
        </channel>
        </rss>
        """

    static let rdf = """
        <?xml version="1.0"?>
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
                 xmlns:dc="http://purl.org/dc/elements/1.1/">
        <channel rdf:about="https://tides.example/"><title>Tide tables</title>
          <items><rdf:Seq><rdf:li resource="https://tides.example/1"/></rdf:Seq></items></channel>
        <image rdf:about="https://tides.example/i"><title>Logo</title></image>
        <item rdf:about="https://tides.example/1"><title>High water 12:40</title>
          <link>https://tides.example/high</link><dc:date>2026-11-21T12:40Z</dc:date></item>
        <item rdf:about="https://tides.example/2"><title>Low water</title><link>https://tides.example/2</link></item>
        </rdf:RDF>
        """

    static let atom = """
        <?xml version="1.0" encoding="utf-8"?>
        <a:feed xmlns:a="http://www.w3.org/2005/Atom" xml:base="https://pictures.example/blog/">
          <a:title type="text">Pictures &amp; more</a:title>
          <a:link rel="self" href="feed.atom"/>
          <a:author><a:name>Somebody</a:name></a:author>
          <a:entry>
            <a:title>Plain &lt;b&gt;text&lt;/b&gt; stays</a:title>
            <a:link rel="replies" href="/replies"/><a:link href="2026/one"/><a:link href="2026/other"/>
            <a:link rel="enclosure" type="image/png" length="77" href="files/one.png"/>
            <a:id>urn:uuid:1</a:id>
            <a:updated>2026-11-21T08:00:00Z</a:updated><a:published>2026-11-20T08:00:00Z</a:published>
            <a:source><a:title>Elsewhere</a:title><a:id>urn:uuid:0</a:id></a:source>
          </a:entry>
          <a:entry>
            <a:title type="html">&lt;b&gt;Bold&lt;/b&gt; and &amp;copy;&lt;script&gt;alert(1)&lt;/script&gt;</a:title>
            <a:link rel="alternate" type="text/html" href="/two"/>
            <a:id>urn:uuid:2</a:id><a:updated>2026-11-19T09:00:00.25+01:00</a:updated>
          </a:entry>
          <a:entry xml:base="https://other.example/deep/">
            <a:title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>A <em>word</em></p><p>in XHTML</p></div></a:title>
            <a:link href="three"/><a:id>urn:uuid:3</a:id>
            <a:content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><title>No</title></div></a:content>
          </a:entry>
          <a:entry><a:id>urn:uuid:4</a:id><a:updated>0001-01-01T00:00:00Z</a:updated></a:entry>
        </a:feed>
        """

    static let json = #"""
        {
          "version": "https://jsonfeed.org/version/1.1", "title": "Notes \ud83d\ude00",
          "_private": {"deep": [1, 2.5e3, true, null, {"a": "\u00e9\ud800"}]},
          "items": [
            {"id": 17, "title": "First & <b>only</b>", "url": "/one", "date_published": "2026-11-21T07:00:00+01:00",
             "attachments": [
               {"url": "a.m4a", "mime_type": "audio/mp4", "size_in_bytes": 1.5e6}, {"url": "https://cdn.example/b.jpg"},
               {"url": "ftp://cdn.example/c"}, 3
             ]},
            {"external_url": "https://json.example/two", "date_published": null, "title": null},
            {"content_text": "A note\nwithout a title"},
            "not an item", {"id": "", "title": ""}
          ]
        }
        """#

    static let all = [rss, rdf, atom, json]
}
